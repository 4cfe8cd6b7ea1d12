"""The samples of the lab on software: kept, run where nobody did, refused where trials failed."""

from pathlib import Path

import pytest
import virtual_samples

from fsgreen.campaign import virtual
from fsgreen.errors import FsgreenError
from fsgreen.labs.feedback import NotYet
from fsgreen.labs.software import SoftwareLab


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    return virtual_samples.write(tmp_path, "somewhere")


def test_a_guest_runs_only_what_nobody_ran(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample takes minutes, and a laptop without QEMU is given the files of another."""
    ran: list[int] = []

    def run(study: str, profile: str, block: int) -> bytes:
        ran.append(block)
        return virtual_samples.written(block)

    monkeypatch.setattr(virtual, "run", run)
    lab = SoftwareLab("somewhere")
    for name in ("block2.jsonl", "block1-again.jsonl"):
        (samples / name).unlink()
    for _ in range(2):
        assert list(lab.samples().index.unique("block")) == list(lab.blocks)
        assert lab.twice()[0] == lab.twice()[1]
    assert ran == [2, 1]


def test_a_sample_in_which_trials_failed_says_which_and_is_not_kept(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same job fails in the same way: whoever is given the file would fail, too."""
    (samples / "block1.jsonl").unlink()
    monkeypatch.setattr(virtual, "run", lambda *_: virtual_samples.written(1, fails="xfs"))
    with pytest.raises(
        FsgreenError, match=r"2 trials failed in the guest, first b01-.*-xfs-.*: mkfs.xfs ended"
    ) as told:
        SoftwareLab("somewhere").sample(1)
    assert f"from somebody, as {samples}" in (told.value.next_step or "")
    assert not (samples / "block1.jsonl").exists()


def test_a_laptop_without_a_guest_is_told_where_samples_are_put(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> bytes:
        raise FsgreenError("QEMU is not installed", next_step="apt-get install qemu-system-x86")

    (samples / "block3.jsonl").unlink()
    monkeypatch.setattr(virtual, "run", run)
    with pytest.raises(FsgreenError, match="QEMU is not installed") as told:
        SoftwareLab("somewhere").samples()
    assert f"qemu-system-x86; or get the folder somewhere from somebody, as {samples}" in (
        told.value.next_step or ""
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (virtual_samples.written(2, guest={"qemu": "9"}), "were written by different guests"),
        (virtual_samples.written(2).replace(b"xfs", b"zfs"), "is not block 2 of this plan"),
        (virtual_samples.written(3), "is not block 2 of this plan"),
        (virtual_samples.written(2, fails="xfs"), "2 trials failed in the guest"),
        (virtual_samples.written(2)[:500], "is no sample, or not whole"),
        (b"", "is no sample, or not whole"),
        (b"[]\n[]\n", "is no sample, or not whole"),
    ],
)
def test_samples_that_do_not_belong_together_are_refused(
    written: bytes, said: str, samples: Path
) -> None:
    """Half of them given, half of them run here: their interval would be of two images."""
    (samples / "block2.jsonl").write_bytes(written)
    with pytest.raises(FsgreenError, match=said) as told:
        SoftwareLab("somewhere").samples()
    assert "remove that f" in (told.value.next_step or "")


def test_two_runs_that_differ_are_not_explained_away(samples: Path) -> None:
    once = virtual_samples.written(1)
    (samples / "block1-again.jsonl").write_bytes(once.replace(b"0.5", b"0.6"))
    with pytest.raises(NotYet, match="your two runs differ"):
        SoftwareLab("somewhere").check("repeat", "that the numbers are right")
