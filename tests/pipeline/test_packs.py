"""Packs of raw traces: what comes out is what went in, and nothing is overwritten."""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import synthetic

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.meters.core import rawtrace
from fsgreen.pipeline import packs
from fsgreen.trial import sha256_of

Files = dict[str, bytes]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The raw traces of the campaign `c`, in an own data folder."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("c", synthetic.make_plan())
    why = tmp_path / "raw/c/invalid/b01-002.1/trial.json"
    why.parent.mkdir(parents=True)
    why.write_bytes(b"why\n")
    return tmp_path / "raw/c"


def read(folder: Path) -> Files:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def trials_of(folder: Path) -> list[Path]:
    return sorted((folder / "trials").iterdir())


def taken_away(folder: Path) -> Path:
    return folder.rename(folder.with_name("before"))


def test_what_was_packed_comes_out(folder: Path) -> None:
    assert packs.pack("c") == paths.packed("c")
    before = read(taken_away(folder))
    assert packs.unpack("c") == folder
    assert read(folder) == before
    assert os.listdir(paths.packed("c").parent) == ["c.tar.xz"]


@pytest.fixture
def large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trial whose raw trace makes its table, which is large enough to be left out."""
    monkeypatch.setattr(packs, "LARGE_B", 10)
    trial = trials_of(folder)[0]
    (trial / packs.RAW).write_bytes(b"raw")
    made_as(monkeypatch, "table of ")
    rawtrace.write_parsed(trial / packs.RAW, trial / packs.TABLE)
    record = trial / "trial.json"
    said = json.loads(record.read_text())
    said["files"] |= {name: sha256_of(trial / name) for name in (packs.RAW, packs.TABLE)}
    record.write_text(json.dumps(said))
    return trial


def made_as(monkeypatch: pytest.MonkeyPatch, begin: str) -> None:
    """Have tables be a word and their raw trace."""
    monkeypatch.setattr(
        rawtrace, "write_parsed", lambda raw, table: table.write_text(begin + raw.read_text())
    )


def names_in(pack: Path) -> list[str]:
    with tarfile.open(pack) as tar:
        return tar.getnames()


def test_a_large_table_is_left_out_where_its_raw_trace_makes_it(folder: Path, large: Path) -> None:
    """Of traces of kilohertz, tables were most of what a clone had to fetch."""
    assert f"trials/{large.name}/{packs.TABLE}" not in names_in(packs.pack("c"))
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_a_raw_trace_of_bytes_is_packed_without_base64_and_comes_out_as_it_was(
    folder: Path,
) -> None:
    raw = trials_of(folder)[0] / packs.RAW
    raw.write_bytes(
        b'{"t": 1.0, "m": "disk", "b64": "AAEC/w=="}\n{"t": 2.0, "m": "disk", "b": "x"}\n'
    )
    record = raw.with_name("trial.json")
    said = json.loads(record.read_text())
    record.write_text(json.dumps(said | {"files": said["files"] | {packs.RAW: sha256_of(raw)}}))
    names = names_in(packs.pack("c"))
    assert f"trials/{raw.parent.name}/{packs.RAW}{packs.APART}" in names
    assert f"trials/{raw.parent.name}/{packs.RAW}" not in names
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_tables_are_packed_without_their_compression_and_come_out_as_they_were(
    folder: Path,
) -> None:
    """xz makes no smaller what Zstandard has compressed: half of a pack were latencies."""
    trial = trials_of(folder)[0].name
    names = names_in(packs.pack("c"))
    assert f"trials/{trial}/ops.parquet{packs.PLAIN}" in names
    assert f"trials/{trial}/ops.parquet" not in names
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_a_plain_table_that_comes_out_otherwise_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of PyArrow may write other bytes."""
    packs.pack("c")
    taken_away(folder)
    monkeypatch.setitem(packs.OUT_OF, packs.PLAIN, lambda plain: plain)
    with pytest.raises(FsgreenError, match=r"trials/.*/host\.parquet comes out as other bytes"):
        packs.unpack("c")
    assert not folder.exists()


def recorded_invalid(folder: Path) -> Path:
    """A trial that was set aside, with its record and its tables."""
    return Path(shutil.copytree(trials_of(folder)[0], folder / "invalid" / "b01-001.1"))


def test_a_table_that_differs_from_its_record_is_packed_as_it_is(folder: Path) -> None:
    """Only trials that count are verified: else the whole campaign could not be unpacked."""
    trial = recorded_invalid(folder)
    shutil.copyfile(trial / "host.parquet", trial / "ops.parquet")
    assert "invalid/b01-001.1/ops.parquet" in names_in(packs.pack("c"))
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_a_table_without_a_record_is_packed_as_it_is(folder: Path) -> None:
    trial = recorded_invalid(folder)
    (trial / "trial.json").unlink()
    assert "invalid/b01-001.1/ops.parquet" in names_in(packs.pack("c"))
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_a_table_that_is_too_large_when_plain_is_packed_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack of it would be refused."""
    monkeypatch.setattr(packs, "LARGEST_B", max(map(len, read(folder).values())))
    monkeypatch.setitem(packs.INTO, packs.PLAIN, lambda table: bytes(packs.LARGEST_B + 1))
    packs.pack("c")
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


@pytest.mark.parametrize("name", ["power.raw.apart", "ops.parquet.plain"])
def test_what_an_older_fsgreen_unpacked_is_named(folder: Path, name: str) -> None:
    """It would be twice in the pack, which nobody could unpack."""
    packs.pack("c")
    (trials_of(folder)[0] / name).write_bytes(b"apart")
    with pytest.raises(FsgreenError, match="an older fsgreen") as told:
        packs.pack("c")
    unpack, _, find = str(told.value.next_step).partition(", then: ")
    assert unpack == "fsgreen unpack c"
    subprocess.run(find, shell=True, check=True)
    packs.pack("c")


def test_a_file_of_ones_own_may_end_as_they_do(folder: Path) -> None:
    (folder / "notes.plain").write_bytes(b"mine")
    packs.pack("c")
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_a_table_that_its_raw_trace_makes_otherwise_is_packed(
    folder: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_as(monkeypatch, "other table of ")
    assert f"trials/{large.name}/{packs.TABLE}" in names_in(packs.pack("c"))


def test_a_trial_that_never_had_a_table_comes_out_without_one(folder: Path, large: Path) -> None:
    record = large / "trial.json"
    said = json.loads(record.read_text())
    del said["files"][packs.TABLE]
    record.write_text(json.dumps(said))
    (large / packs.TABLE).unlink()
    packs.pack("c")
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


def test_a_table_that_comes_out_otherwise_is_told(
    folder: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of its writer, and each later step would say that a file was changed."""
    packs.pack("c")
    taken_away(folder)
    made_as(monkeypatch, "other table of ")
    with pytest.raises(FsgreenError, match="comes out as other bytes") as told:
        packs.unpack("c")
    assert "requirements.lock" in str(told.value.next_step)
    assert not folder.exists()


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
