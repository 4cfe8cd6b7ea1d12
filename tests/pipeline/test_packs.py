"""Packs of raw traces: what comes out is what went in, and nothing is overwritten."""

import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packed import folder, names_in, read, taken_away, trials_of

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import packs

__all__ = ["folder"]


def test_what_was_packed_comes_out(folder: Path) -> None:
    assert packs.pack("c") == paths.packed("c")
    before = read(taken_away(folder))
    assert packs.unpack("c") == folder
    assert read(folder) == before
    assert os.listdir(paths.packed("c").parent) == ["c.tar.xz"]


def test_the_same_traces_make_the_same_bytes(folder: Path) -> None:
    """Otherwise each clone would ship a store of its own."""
    first = packs.pack("c").read_bytes()
    before = taken_away(folder)
    for name in sorted(read(before), reverse=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((before / name).read_bytes())
        (folder / name).chmod(0o600)
    assert packs.pack("c").read_bytes() == first


def test_bytes_that_trials_of_windows_share_are_packed_for_each(folder: Path) -> None:
    """They are links to one file there, which nobody could have unpacked."""
    shared = folder / "shared.raw"
    os.link(trials_of(folder)[0] / "power.parquet", shared)
    packs.pack("c")
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before
    assert "shared.raw" in before


def test_a_trial_that_is_being_written_is_left_out(folder: Path) -> None:
    whole = sorted(read(folder))
    (folder / "trials/.b01-003.partial").mkdir()
    (folder / "trials/.b01-003.partial/power.raw").write_bytes(b"half")
    names = names_in(packs.pack("c"))
    assert sorted(name.removesuffix(packs.PLAIN) for name in names) == whole


def test_trials_that_were_measured_since_stay_and_missing_ones_come_back(folder: Path) -> None:
    packs.pack("c")
    before = read(folder)
    new = folder / "trials/b09-001/trial.json"
    new.parent.mkdir()
    new.write_bytes(b"3\n")
    shutil.rmtree(trials_of(folder)[1])
    packs.unpack("c")
    assert read(folder) == before | {"trials/b09-001/trial.json": b"3\n"}


def test_a_trial_that_was_changed_is_not_packed_over_the_whole_one(folder: Path) -> None:
    """Its pack would have been the only whole copy."""
    whole = packs.pack("c").read_bytes()
    with (trials_of(folder)[0] / "power.parquet").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(FsgreenError, match="is not the file that was recorded"):
        packs.pack("c")
    assert paths.packed("c").read_bytes() == whole


def test_a_file_that_was_changed_is_named_and_nothing_is_put_in_place(folder: Path) -> None:
    packs.pack("c")
    (folder / "plan.json").write_bytes(b"mine\n")
    (folder / "campaign.json").unlink()
    with pytest.raises(FsgreenError, match=r"plan\.json is not what was packed"):
        packs.unpack("c")
    assert (folder / "plan.json").read_bytes() == b"mine\n"
    assert not (folder / "campaign.json").exists()


def test_a_campaign_or_a_pack_that_is_not_there_is_named(folder: Path) -> None:
    before = read(folder)
    with pytest.raises(FsgreenError, match="unknown campaign 'other'"):
        packs.pack("other")
    with pytest.raises(FsgreenError, match="no pack of the traces of 'c'") as caught:
        packs.unpack("c")
    assert "fsgreen pack c" in str(caught.value.next_step)
    assert read(folder) == before


def test_a_pack_that_was_cut_or_damaged_puts_nothing_in_place(folder: Path) -> None:
    """Half of a campaign would be analysed as if it were all."""
    whole = packs.pack("c").read_bytes()
    taken_away(folder)
    cut = [whole[:size] for size in range(0, len(whole), max(1, len(whole) // 40))]
    damaged = [whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :] for at in range(len(whole))]
    for wrong in [*cut, *damaged[:: max(1, len(damaged) // 40)]]:
        paths.packed("c").write_bytes(wrong)
        with pytest.raises(FsgreenError, match="no whole pack"):
            packs.unpack("c")
        assert not folder.exists()


def escaping(member: tarfile.TarInfo) -> None:
    member.name = "../../escaped"


def absolute(member: tarfile.TarInfo) -> None:
    member.name = "/tmp/escaped"


def link(member: tarfile.TarInfo) -> None:
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"


def large_apart(member: tarfile.TarInfo) -> None:
    member.name, member.size = "power.raw.apart", packs.LARGEST_B + 1


def no_apart(member: tarfile.TarInfo) -> None:
    member.name = "power.raw.apart"


def huge_apart(member: tarfile.TarInfo) -> None:
    member.name, member.size = "power.raw.apart", 1 << 62


def no_plain(member: tarfile.TarInfo) -> None:
    member.name = "ops.parquet.plain"


def large_plain(member: tarfile.TarInfo) -> None:
    member.name, member.size = "ops.parquet.plain", packs.LARGEST_B + 1


def test_a_plain_table_without_a_record_is_told(folder: Path) -> None:
    packs.pack("c")
    taken_away(folder)
    inside = paths.packed("c").with_name("inside")
    with tarfile.open(paths.packed("c")) as tar:
        tar.extractall(inside, filter="data")
    for record in inside.rglob("trial.json"):
        record.unlink()
    with tarfile.open(paths.packed("c"), "w:xz") as tar:
        tar.add(inside, ".")
    with pytest.raises(FsgreenError, match="no whole pack"):
        packs.unpack("c")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (escaping, "is no file of a campaign"),
        (absolute, "is no file of a campaign"),
        (link, "is no file of a campaign"),
        (no_apart, "are not apart here"),
        (large_apart, "is larger than any"),
        (huge_apart, "is larger than any"),
        (no_plain, "no table of a trial"),
        (large_plain, "is larger than any"),
    ],
)
def test_a_pack_from_anybody_writes_below_its_campaign_only(
    folder: Path, tmp_path: Path, change: Callable[[tarfile.TarInfo], None], message: str
) -> None:
    taken_away(folder)
    paths.packed("c").parent.mkdir()
    with tarfile.open(paths.packed("c"), "w:xz") as tar:
        member = tarfile.TarInfo("plan.json")
        tar.addfile(member)
        change(member)
        tar.addfile(member)
    with pytest.raises(FsgreenError, match=message):
        packs.unpack("c")
    assert not folder.exists()
    assert not list(tmp_path.rglob("*escaped*"))
