"""Raw bytes must outlive everything: a kill, a full disk, a better parser."""

import errno
import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces import INFO
from wattsup_texts import HEADER

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.meters import Chunk, reparse
from fsgreen.meters.core.rawtrace import RawTrace, RawWriter, write_parsed
from fsgreen.meters.raw import import_raw

RECORD = "#d,-,18,{watts},1200,1000,1,0,0,0,0,0,0,0,0,0,97,100,3,600,1237;\r\n"


def write(path: Path, count: int = 5, **infos) -> None:
    """A trace of 120.0, 120.1 ... W, once a second."""
    writer = RawWriter(path, infos or {"system": INFO})
    for meter in infos or {"system": INFO}:
        writer.store(meter, Chunk(99.5, HEADER.encode()))
        for nth in range(count):
            writer.store(meter, Chunk(100.0 + nth, RECORD.format(watts=1200 + nth).encode()))
    writer.close()


@given(st.binary(max_size=300))
def test_any_bytes_come_back_and_binary_ones_do_not_swell(tmp_path_factory, data) -> None:
    path = tmp_path_factory.mktemp("raw") / "power.raw"
    writer = RawWriter(path, {"system": INFO})
    writer.store("system", Chunk(1.5, data))
    writer.close()
    (chunk,) = RawTrace(path).chunks("system")
    assert chunk == Chunk(1.5, data)
    line = path.read_bytes().splitlines()[1]
    assert len(line) <= len(data) * 4 / 3 + 50


def test_text_stays_readable(tmp_path: Path) -> None:
    write(tmp_path / "power.raw", 1)
    lines = [json.loads(line) for line in (tmp_path / "power.raw").read_text().splitlines()]
    assert lines[2]["b"] == RECORD.format(watts=1200)


def test_trace_cut_at_every_byte_keeps_what_came_before_and_says_so(tmp_path: Path) -> None:
    whole, cut = tmp_path / "power.raw", tmp_path / "cut.raw"
    write(whole)
    data = whole.read_bytes()
    head_b = data.index(b"\n") + 1
    for size_b in range(head_b, len(data) + 1):
        cut.write_bytes(data[:size_b])
        lines = data[:size_b].count(b"\n")
        table = reparse(cut)
        assert len(table) == max(0, lines - 2)
        assert table["power_w"].tolist() == [120.0, 120.1, 120.2, 120.3, 120.4][: len(table)]
        assert table.attrs["torn_b"] == size_b - (data[:size_b].rindex(b"\n") + 1)
    cut.write_bytes(data[: head_b - 1].replace(b"}", b"", 1))
    with pytest.raises(FsgreenError, match="not a whole raw power trace"):
        reparse(cut)


def test_recorder_that_is_killed_leaves_a_trace_that_parses(tmp_path: Path) -> None:
    code = (
        "import sys, itertools; sys.path[:0] = ['tests', 'tests/meters']\n"
        "from pathlib import Path\n"
        "from test_rawtrace import *\n"
        f"writer = RawWriter(Path({str(tmp_path / 'power.raw')!r}), {{'system': INFO}})\n"
        "writer.store('system', Chunk(99.5, HEADER.encode()))\n"
        "for nth in itertools.count():\n"
        "    writer.store('system', Chunk(100.0 + nth, RECORD.format(watts=nth % 1000).encode()))\n"
        "    if nth == 500: print('going', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=paths.root(), stdout=subprocess.PIPE
    ) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == b"going\n"
        recorder.kill()
    table = reparse(tmp_path / "power.raw")
    assert len(table) > 500
    assert table["power_w"].tolist() == [nth % 1000 / 10 for nth in range(len(table))]


@pytest.mark.parametrize(
    "line", [b"no json", b"[]", b"{}", b'{"t": 1, "m": "other", "b": ""}', b"\xff\xfe",
             b'{"t": 1, "m": "system", "b64": "?"}', b'{"t": 1, "m": "system", "b": "\\u1234"}'],
)  # fmt: skip
def test_damage_before_the_end_is_refused_by_its_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "power.raw"
    write(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], line + b"\n", *lines[3:]]))
    with pytest.raises(FsgreenError, match="in line 4") as caught:
        reparse(path)
    assert caught.value.where == str(path)
    assert caught.value.next_step


def test_full_disk_ends_the_trace_at_a_torn_line_whoever_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "power.raw"
    writer = RawWriter(path, {"system": INFO})
    writer.store("system", Chunk(99.5, HEADER.encode()))
    writer.store("system", Chunk(100.0, RECORD.format(watts=1200).encode()))
    whole_b = path.stat().st_size
    write_all, room_b = os.write, [30]

    def short(file: int, data: memoryview) -> int:
        if not room_b[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write_all(file, data[: room_b[0]])
        room_b[0] -= written
        return written

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(FsgreenError, match="No space left") as caught:
        writer.store("system", Chunk(101.0, RECORD.format(watts=1201).encode()))
    assert "df -h" in caught.value.next_step
    monkeypatch.undo()
    with pytest.raises(FsgreenError, match="No space left"):
        writer.store("system", Chunk(102.0, RECORD.format(watts=1202).encode()))
    writer.close()
    table = reparse(path)
    assert path.stat().st_size == whole_b + 30
    assert (table["power_w"].tolist(), table.attrs["torn_b"]) == ([120.0], 30)


def test_lines_of_several_threads_stay_whole(tmp_path: Path) -> None:
    names = [f"m{nth}" for nth in range(4)]
    writer = RawWriter(tmp_path / "power.raw", dict.fromkeys(names, INFO))

    def talk(name: str) -> None:
        writer.store(name, Chunk(0.0, HEADER.encode()))
        for nth in range(300):
            writer.store(name, Chunk(1.0 + nth, RECORD.format(watts=nth).encode()))

    threads = [threading.Thread(target=talk, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    power = reparse(tmp_path / "power.raw")
    assert power.groupby("meter")["power_w"].apply(list).map(len).tolist() == [300] * 4
    for _, readings in power.groupby("meter"):
        np.testing.assert_allclose(readings["power_w"], np.arange(300) / 10)


def test_written_table_is_the_one_in_memory(tmp_path: Path) -> None:
    write(tmp_path / "power.raw", 40, system=INFO, disk=INFO)
    write_parsed(tmp_path / "power.raw", tmp_path / "power.parquet")
    stored = pd.read_parquet(tmp_path / "power.parquet")
    pd.testing.assert_frame_equal(stored, reparse(tmp_path / "power.raw"), check_exact=True)
    assert stored["meter"].tolist() == ["system"] * 40 + ["disk"] * 40


@pytest.mark.parametrize(("boundary", "flag"), [("wall", "frozen"), ("modelled", "ok")])
def test_imported_rows_that_stand_still_are_flagged_unless_a_model_made_them(
    tmp_path: Path, boundary: str, flag: str
) -> None:
    """A meter that hung is no load, and a model at constant power no meter that hung."""
    writer = RawWriter(tmp_path / "power.raw", {"system": replace(INFO, boundary=boundary)})
    writer.store("system", Chunk(99.5, HEADER.encode()))
    for nth in range(100):
        watts = 1200 + 7 * (nth if not 50 <= nth < 58 else 49) % 11
        writer.store("system", Chunk(100.0 + nth, RECORD.format(watts=watts).encode()))
    writer.close()
    readings = import_raw(tmp_path / "power.raw", "system").readings
    assert [readings[nth].quality for nth in (49, 50, 57, 58)] == ["ok", flag, flag, "ok"]
