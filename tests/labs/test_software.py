"""The samples of the lab on software: kept, run where nobody did, refused where trials failed."""

from pathlib import Path

import pytest
import virtual_samples

from fsgreen.campaign import virtual
from fsgreen.errors import FsgreenError
from fsgreen.labs.software import SoftwareLab


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    return virtual_samples.write(tmp_path, "somewhere")


def test_a_guest_runs_only_what_nobody_ran(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample takes minutes, and a laptop without QEMU is given the files of another."""
    ran: list[int] = []
    whole = (samples / "block2.jsonl").read_bytes()

    def run(study: str, profile: str, block: int) -> bytes:
        ran.append(block)
        return whole

    monkeypatch.setattr(virtual, "run", run)
    (samples / "block2.jsonl").unlink()
    lab = SoftwareLab("somewhere")
    assert lab.samples().index.get_level_values("block").nunique() == 4
    assert lab.twice()[0] == lab.twice()[1]
    lab.sample(2)
    assert ran == [2]


def test_a_sample_in_which_trials_failed_says_which_and_what_to_do(
    tmp_path: Path, samples: Path
) -> None:
    virtual_samples.write(tmp_path, "somewhere", fails="xfs")
    with pytest.raises(FsgreenError, match=r"2 trials failed in the guest: b01-.*-xfs-") as told:
        SoftwareLab("somewhere").sample(1)
    assert "remove that file" in (told.value.next_step or "")
