"""Files that are changed for a pack, or left out of it: each comes out as it was measured."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from packed import folder, names_in, read, taken_away, trials_of

from fsgreen.errors import FsgreenError
from fsgreen.meters.core import rawtrace
from fsgreen.pipeline import packs
from fsgreen.trial import sha256_of

__all__ = ["folder"]


def comes_out_as_it_was(folder: Path) -> None:
    before = read(taken_away(folder))
    packs.unpack("c")
    assert read(folder) == before


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


def test_a_large_table_is_left_out_where_its_raw_trace_makes_it(folder: Path, large: Path) -> None:
    """Of traces of kilohertz, tables were most of what a clone had to fetch."""
    assert f"trials/{large.name}/{packs.TABLE}" not in names_in(packs.pack("c"))
    comes_out_as_it_was(folder)


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
    comes_out_as_it_was(folder)


def test_tables_are_packed_without_their_compression_and_come_out_as_they_were(
    folder: Path,
) -> None:
    """xz makes no smaller what Zstandard has compressed: half of a pack were latencies."""
    trial = trials_of(folder)[0].name
    names = names_in(packs.pack("c"))
    assert f"trials/{trial}/ops.parquet{packs.PLAIN}" in names
    assert f"trials/{trial}/ops.parquet" not in names
    comes_out_as_it_was(folder)


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
    comes_out_as_it_was(folder)


def test_a_table_without_a_record_is_packed_as_it_is(folder: Path) -> None:
    trial = recorded_invalid(folder)
    (trial / "trial.json").unlink()
    assert "invalid/b01-001.1/ops.parquet" in names_in(packs.pack("c"))
    comes_out_as_it_was(folder)


def test_a_table_that_is_too_large_when_plain_is_packed_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack of it would be refused."""
    monkeypatch.setattr(packs, "LARGEST_B", max(map(len, read(folder).values())))
    monkeypatch.setitem(packs.INTO, packs.PLAIN, lambda table: bytes(packs.LARGEST_B + 1))
    packs.pack("c")
    comes_out_as_it_was(folder)


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
    comes_out_as_it_was(folder)


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
    comes_out_as_it_was(folder)


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
