"""The study of docs/greenfs.md: what GreenFS costs beside the file system that it lies on."""

import re
from pathlib import Path

import pytest
from loops import need

import fsgreen
from fsgreen import campaign, cli, paths, reduce, trial
from fsgreen.analysis import standard
from fsgreen.campaign import testbedfile
from fsgreen.devices import mounts
from tests.patience import BOUNDS

HAS_ENGINE = paths.program("fsgreen-wml") is not None

pytestmark = [
    pytest.mark.loop,
    pytest.mark.skipif(not HAS_ENGINE, reason="needs the engine: ./run engine"),
    pytest.mark.usefixtures("patient", "quick"),
]

SHORTER = {
    "warmup_s: 2, measure_s: 11": "warmup_s: 0.1, measure_s: 2",
    "blocks: 5": "blocks: 1",
    "varmail: 0.05": "varmail: 0.01",
    "image_mib: 1024": "image_mib: 128",
}


def study_of_the_docs() -> str:
    """The study of docs/greenfs.md, made shorter."""
    page = (paths.code() / "docs" / "greenfs.md").read_text()
    [text] = re.findall("```yaml\n(study: mail-protected\n.*?)```", page, re.DOTALL)
    for long, short in SHORTER.items():
        assert long in text
        text = text.replace(long, short)
    return f"{text}{BOUNDS}\n"


def test_greenfs_is_measured_beside_ext4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("greenfs")
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "mail-protected.yaml").write_text(study_of_the_docs())
    assert cli.main(["plan", "mail-protected"]) == 0
    assert "varmail-greenfs-noremote" in capsys.readouterr().out

    place = testbedfile.TestbedFile(kind="loop", in_memory=True)
    campaign.measure("mail-protected", "quick", place=place)
    reduce.write("mail-protected-quick")
    standard.write("mail-protected-quick")
    mine = fsgreen.open("mail-protected-quick")
    measured = set(zip(mine.cells["file_system"], mine.cells["option"], strict=True))
    assert measured == {("ext4", "default"), ("greenfs", "default"), ("greenfs", "noremote")}
    assert (mine.cells["throughput_ops_s"] > 0).all()
    pairs = mine.effects[["baseline_file_system", "file_system"]].itertuples(index=False)
    assert {tuple(pair) for pair in pairs} == {("ext4", "greenfs"), ("greenfs", "greenfs")}
    found = {}
    for one in trial.list_trials(paths.raw("mail-protected-quick")):
        assert not one.record.mount.get("below")
        found[one.record.cell["file_system"]] = one.record.mount.get("stacked")
    assert found["ext4"] is None and found["greenfs"]["program"] == "greenfs"
    assert not [entry for entry in mounts.mounted() if "/fsgreen-loop-" in str(entry.point)]
