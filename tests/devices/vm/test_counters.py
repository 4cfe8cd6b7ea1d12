"""The counters of a guest's disk, which QEMU is asked for and the guest is not."""

import json
import math
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fsgreen.devices.vm import counters
from fsgreen.devices.vm.counters import MONITOR, DiskCounters
from fsgreen.meters import HostSampler
from fsgreen.meters.core.host import DISK_COLUMNS

STATS = {
    **{"rd_bytes": 4096, "rd_operations": 4, "rd_merged": 3},
    **{"wr_bytes": 8192, "wr_operations": 2, "wr_merged": 0},
    **{"unmap_operations": 4, "unmap_merged": 1},
}
"""QEMU counts what the guest asked for; some of it was merged before the disk got it."""
WHOLE = [
    {"device": "other", "stats": {}},
    {"device": "disk", "stats": {**STATS, "idle_time_ns": 7}},
]
COUNTED = {
    "disk_read_b": 4096.0,
    "disk_write_b": 8192.0,
    "disk_reads_count": 1.0,
    "disk_writes_count": 2.0,
    "disk_discards_count": 3.0,
}

Play = Callable[[bytes], None]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Has a monitor answer with these bytes, and leave where there are none."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / MONITOR))
    listening.listen()
    answer = b""

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as asked:
                connection.sendall(b'{"QMP": {"capabilities": []}}\r\n')
                for line in asked:
                    if b"capabilities" in line:
                        connection.sendall(b'{"event": "RESUME"}\r\n{"return": {}}\r\n')
                    elif not answer:
                        break
                    else:
                        connection.sendall(answer)

    def told(text: bytes) -> None:
        nonlocal answer
        answer = text

    thread = threading.Thread(target=serve)
    thread.start()
    yield told
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


def said(stats: object) -> bytes:
    return json.dumps({"return": stats}).encode() + b"\r\n"


def test_the_counters_are_those_of_the_guest_s_disk(play: Play, tmp_path: Path) -> None:
    """Reports of guests could not say who served the reads."""
    play(b'{"event": "BLOCK_JOB_READY"}\r\n' + said(WHOLE))
    asked = DiskCounters(tmp_path)
    row = HostSampler(lambda: None, None, asked.read).sample()
    assert {name: row[name] for name in COUNTED} == COUNTED
    assert {name for name in DISK_COLUMNS if math.isnan(row[name])} == {"disk_busy_s"}
    assert asked.read() == COUNTED
    asked.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n",
        b"[]\r\n",
        b'{"error": {"class": "CommandNotFound"}}\r\n',
        said([]),
        said({}),
        said([{"device": "disk", "stats": {**STATS, "rd_merged": None}}]),
        said([{"device": "disk", "stats": dict.fromkeys(STATS, "x")}]),
    ],
)
def test_no_counter_is_better_than_a_wrong_one_and_the_next_is_right(
    play: Play, tmp_path: Path, answer: bytes
) -> None:
    play(answer)
    asked = DiskCounters(tmp_path)
    assert all(math.isnan(value) for value in asked.read().values())
    play(said(WHOLE))
    assert asked.read() == COUNTED
    asked.close()


def test_an_answer_that_is_late_is_not_taken_for_the_next(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(b" ")
    asked = DiskCounters(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(counters, "WITHIN_S", 0.1)
        assert all(math.isnan(value) for value in asked.read().values())
    play(said(WHOLE))
    assert asked.read() == COUNTED
    asked.close()


def test_where_no_guest_runs_nothing_is_counted(tmp_path: Path) -> None:
    assert all(math.isnan(value) for value in DiskCounters(tmp_path).read().values())
