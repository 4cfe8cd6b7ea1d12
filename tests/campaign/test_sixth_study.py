"""A study of two file systems, a factor and a fio workload that fsgreen does not know: one file."""

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
]

TEXT = """\
study: sixth
title: Random reads
question: Does depth matter on ext4 and xfs?
seed: 6
baseline: {workload: randread, file_system: ext4, iodepth: 1}
bounds: {budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}
factors:
  iodepth: {owner: workload, kind: count, label: "d{}"}
workloads:
  randread:
    command: [fio, --name=randread, "--directory={directory}", --size=16m, --rw=randread, --bs=4k,
              "--iodepth={iodepth}", --ioengine=libaio, --direct=1, "--randseed={seed}",
              --time_based, "--ramp_time={warmup_s}", "--runtime={measure_s}"]
    prepare: [fio, --name=randread, "--directory={directory}", --size=16m, --rw=randread,
              --create_only=1]
    reader: fio
    size_mib: 16
matrices:
  all: {workload: [randread], file_system: [ext4, xfs], iodepth: [1, 16]}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {idle_s: 1.2, warmup_s: 1, measure_s: 3, settle_limit_s: 60}
    image_mib: 320
"""


def test_a_study_that_fsgreen_does_not_know_is_planned_measured_and_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "sixth.yaml").write_text(TEXT)
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
