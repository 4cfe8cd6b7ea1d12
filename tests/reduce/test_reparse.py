"""A campaign parsed again: what is the same, what a newer parser changes, nothing overwritten."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters import Chunk
from fsgreen.meters.core.rawtrace import RawWriter, write_parsed
from fsgreen.meters.wattsup.emulator import HEADER
from fsgreen.reduce import reparse
from fsgreen.reduce.reparse import reparse_campaign

RECORD = "#d,-,18,{watts},1200,1000,1,0,0,0,0,0,0,0,0,0,97,100,3,600,1237;\r\n"


def record_raw(folder: Path) -> None:
    """Give a trial a raw trace of two meters and its table, as a campaign would have."""
    writer = RawWriter(folder / "power.raw", {"system": INFO, "disk": INFO})
    for meter in ("system", "disk"):
        writer.store(meter, Chunk(9.5, f"#h,-,18,{HEADER};".encode()))
        for nth in range(30):
            writer.store(meter, Chunk(10.0 + nth, RECORD.format(watts=1200 + nth).encode()))
    writer.close()
    write_parsed(folder / "power.raw", folder / "power.parquet")
    sign(folder)


def sign(folder: Path) -> None:
    record = json.loads((folder / "trial.json").read_text())
    for name in ("power.raw", "power.parquet"):
        record["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "trial.json").write_text(json.dumps(record))


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    folder = synthetic.write_raw("small", synthetic.make_plan(blocks=1))
    for trial in (folder / "trials").iterdir():
        record_raw(trial)
    return folder


def test_same_parser_gives_the_same_tables(raw: Path) -> None:
    found = list(reparse_campaign("small"))
    assert len(found) == 2
    assert all(one.equal and one.readings_count == 60 for one in found)
    assert {one.largest_w for one in found} == {0.0}


def test_each_difference_is_counted_and_the_largest_told(raw: Path) -> None:
    folder = sorted((raw / "trials").iterdir())[0]
    table = pd.read_parquet(folder / "power.parquet")
    table.loc[3, "power_w"] += 2.5
    table.loc[7, "quality"] = "inconsistent"
    table.loc[9, "voltage_v"] = np.nan
    table.drop(index=59).to_parquet(folder / "power.parquet", index=False)
    sign(folder)
    one, other = reparse_campaign("small")
    assert (one.different_count, one.readings_count) == (4, 60)
    assert one.largest_w == pytest.approx(2.5)
    assert one.trial == f"trials/{folder.name}"
    assert not one.equal and other.equal


def test_value_that_is_there_now_and_was_not_is_a_difference_of_unknown_size(raw: Path) -> None:
    folder = sorted((raw / "trials").iterdir())[0]
    table = pd.read_parquet(folder / "power.parquet")
    table.loc[3, "power_w"] = np.nan
    table.to_parquet(folder / "power.parquet", index=False)
    sign(folder)
    one, _ = reparse_campaign("small")
    assert one.different_count == 1
    assert np.isnan(one.largest_w)


def test_new_tables_go_elsewhere_and_never_over_a_file(raw: Path, tmp_path: Path) -> None:
    before = {file: file.read_bytes() for file in raw.rglob("*") if file.is_file()}
    found = list(reparse_campaign("small", tmp_path / "new"))
    for one in found:
        new = pd.read_parquet(tmp_path / "new" / one.trial / "power.parquet")
        assert new.equals(pd.read_parquet(raw / one.trial / "power.parquet"))
    assert before == {file: file.read_bytes() for file in raw.rglob("*") if file.is_file()}
    with pytest.raises(FsgreenError, match="a table already"):
        list(reparse_campaign("small", tmp_path / "new"))
    with pytest.raises(FsgreenError, match="never changed"):
        list(reparse_campaign("small", raw / "trials"))


def test_a_table_that_was_not_finished_is_none(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short one would be taken for the whole, and refuse the next start."""

    def cut(file: Path, _: object) -> None:
        file.write_bytes(b"PAR1")
        raise KeyboardInterrupt

    monkeypatch.setattr(reparse, "write_power", cut)
    with pytest.raises(KeyboardInterrupt):
        list(reparse_campaign("small", tmp_path / "new"))
    assert not [file for file in (tmp_path / "new").rglob("*") if file.is_file()]


def test_torn_and_damaged_traces_are_told(raw: Path) -> None:
    folder = sorted((raw / "trials").iterdir())[0]
    data = (folder / "power.raw").read_bytes()
    (folder / "power.raw").write_bytes(data[:-20])
    with pytest.raises(FsgreenError, match=r"power\.raw is not the file that was recorded"):
        list(reparse_campaign("small"))
    sign(folder)
    one, _ = reparse_campaign("small")
    assert (one.different_count, one.torn_b > 0) == (1, True)


def test_an_unknown_campaign_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    with pytest.raises(FsgreenError, match="unknown campaign 'nothing'") as caught:
        list(reparse_campaign("nothing"))
    assert caught.value.next_step
