"""A study of two file systems, a factor and a fio workload that fsgreen does not know: one file."""

import re
import shutil
from pathlib import Path

import pytest

import fsgreen
from fsgreen import campaign, cli, confounds, papers, paths, reduce
from fsgreen.analysis import interactions, standard
from fsgreen.campaign import testbedfile

pytestmark = [
    pytest.mark.loop,
    pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio: apt-get install fio"),
    pytest.mark.usefixtures("quick_meters"),
]

BOUNDS = "bounds: {budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}\n"
"""A test measures for a moment, on a machine that may be busy."""


def study_of_the_docs() -> str:
    """The whole study of docs/studies.md, made shorter."""
    page = (paths.code() / "docs" / "studies.md").read_text()
    [text] = re.findall("```yaml\n(study: sixth\n.*?)```", page, re.DOTALL)
    long = "idle_s: 1.2, warmup_s: 2, measure_s: 11"
    assert long in text
    return BOUNDS + text.replace(long, "idle_s: 0.4, warmup_s: 0.1, measure_s: 2")


@pytest.mark.usefixtures("patient")
def test_a_study_that_fsgreen_does_not_know_is_planned_measured_and_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "sixth.yaml").write_text(study_of_the_docs())
    assert cli.main(["plan", "sixth"]) == 0
    assert "randread-ext4-default-d16" in capsys.readouterr().out

    campaign.measure("sixth", "quick", place=testbedfile.TestbedFile(kind="loop", in_memory=True))
    reduce.write("sixth-quick")
    confounds.write("sixth-quick")
    standard.write("sixth-quick")
    interactions.write("sixth-quick")
    papers.step("sixth-quick", "figures").write("sixth-quick")
    mine = fsgreen.open("sixth-quick")
    assert sorted(mine.cells["iodepth"]) == [1, 1, 16, 16]
    assert (mine.cells["throughput_ops_s"] > 0).all()
    depth = mine.effects[mine.effects["kind"] == "iodepth"]
    assert set(depth["baseline_iodepth"]) == {1} and set(depth["iodepth"]) == {16}
