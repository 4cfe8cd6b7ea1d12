"""Recording fast meters, and what goes wrong while it is done."""

import errno
import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from faulty_blocks import Emulator

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, Chunk, open_meters, reparse
from fsgreen.meters.blocks.sender import Link
from fsgreen.meters.core import capture as capturing
from fsgreen.meters.core.rawtrace import write_parsed
from tests.emulated import wattsup
from tests.patience import leaves_nothing, wait_for
from tests.traces import total_w, whole_energy_j

ACCURACY = {"gain_error": 0.01, "constant_error_w": 0.01, "source": "test"}


@pytest.fixture
def sensor():
    """A sensor on a rail of 5 V that draws 1 A: 5 W, 10,000 times a second."""
    with Emulator(Link(("127.0.0.1", 0), listen=True), lambda t: 1.0 + 0 * t) as emulator:
        yield emulator


@pytest.fixture
def meters(sensor):
    """The sensor, and a slow meter beside it."""
    entry = {"name": "rail", "driver": "blocks", "connect": f"127.0.0.1:{sensor.link.port}"}
    with ExitStack() as stack:
        (rail,) = open_meters([entry | ACCURACY], lambda: None).values()
        stack.callback(rail.close)
        slow = wattsup(lambda: 173.26, "wall", pace_s=0.1)
        stack.callback(slow.close)
        yield {"rail": rail, "wall": slow}


def test_fast_meter_beside_a_slow_one_loses_nothing_and_leaves_nothing(meters, tmp_path) -> None:
    with leaves_nothing(), Capture(meters, tmp_path / "power.raw") as capture:
        wait_for(lambda: total_w(capture) is not None)
        start_s = time.monotonic()
        wait_for(lambda: len(capture.since("wall", start_s)) > 8)
        end_s = time.monotonic()
        wait_for(lambda: total_w(capture, since_s=end_s) is not None)
        assert capture.latest_w("rail") == pytest.approx(5.0)
    assert capture.fault is None
    power = reparse(tmp_path / "power.raw")
    rail = power[power["meter"] == "rail"]
    assert set(rail["quality"]) == {"ok"}
    assert set(power["quality"]) <= {"ok", "retimed"}  # by a slow reader that stood still
    info = meters["rail"].describe()
    assert trace.check_trace(rail, start_s, end_s, 10_000.0) == []
    assert whole_energy_j(rail, start_s, end_s) == pytest.approx(5 * (end_s - start_s), rel=1e-3)
    assert info.rate_hz == 10_000
    assert len(power[power["meter"] == "wall"]) > 8
    write_parsed(tmp_path / "power.raw", tmp_path / "power.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "power.parquet"), power)


def test_looking_on_while_it_records_shows_every_reading_once(meters, tmp_path) -> None:
    seen = []
    with Capture(meters, tmp_path / "power.raw") as capture:

        def look() -> int:
            seen.extend(capture.since("rail", seen[-1] if seen else -np.inf).time_s.tolist())
            return len(seen)

        wait_for(lambda: look() > 7000)
        assert len(capture.since("rail", time.monotonic() + 1)) == 0
    power = reparse(tmp_path / "power.raw")
    assert seen == power[power["meter"] == "rail"]["time_s"].tolist()[: len(seen)]


def test_stalled_sensor_is_a_fault_and_what_it_did_not_send_is_no_energy(
    meters, sensor, tmp_path, monkeypatch
) -> None:
    with Capture({"rail": meters["rail"]}, tmp_path / "power.raw") as capture:
        wait_for(lambda: total_w(capture) is not None)
        monkeypatch.setattr(capturing, "SILENCE_S", 0.6)
        sensor.faults.stall = True
        wait_for(lambda: capture.fault is not None)
        stalled_s = time.monotonic()
    assert "silent" in capture.fault.what
    with pytest.raises(FsgreenError, match="outside the trace"):
        whole_energy_j(reparse(tmp_path / "power.raw"), stalled_s - 2, stalled_s)


def test_dropped_blocks_are_marked(meters, sensor, tmp_path) -> None:
    with Capture({"rail": meters["rail"]}, tmp_path / "power.raw") as capture:
        wait_for(lambda: total_w(capture) is not None)
        start_s = time.monotonic()
        sensor.faults.drop = 1
        wait_for(lambda: sensor.faults.drop == 0)
        dropped_s = time.monotonic()
        wait_for(lambda: total_w(capture, since_s=dropped_s) is not None)
        end_s = time.monotonic()
        wait_for(lambda: total_w(capture, since_s=end_s) is not None)
    power = reparse(tmp_path / "power.raw")
    assert any("lost" in quality for quality in power["quality"])
    assert 13 in {flaw.rule for flaw in trace.check_trace(power, start_s, end_s, 10_000.0)}


def test_sensor_that_vanishes_is_a_fault_and_is_recorded_again_once_it_is_back(tmp_path) -> None:
    def plugged_in(port: int) -> Emulator:
        return Emulator(Link(("127.0.0.1", port), listen=True), lambda t: 1.0 + 0 * t)

    with plugged_in(0) as first:
        port = first.link.port
        entry = {"name": "rail", "driver": "blocks", "connect": f"127.0.0.1:{port}"}
        meters = open_meters([entry | ACCURACY], lambda: None)
        capture = Capture(meters, tmp_path / "power.raw")
        capture.__enter__()
        wait_for(lambda: total_w(capture) is not None)
    wait_for(lambda: capture.fault is not None)
    capture.stop()
    assert len(reparse(tmp_path / "power.raw")) > 0
    with pytest.raises(FsgreenError), Capture(meters, tmp_path / "away.raw"):
        pass
    with plugged_in(port), Capture(meters, tmp_path / "again.raw") as again:
        wait_for(lambda: total_w(again) is not None)
    assert again.fault is None
    meters["rail"].close()


def test_full_disk_in_mid_trial_is_a_fault_and_keeps_what_was_written(
    meters, tmp_path, monkeypatch
) -> None:
    told, write_all = threading.Event(), os.write
    full = threading.Event()

    def write(file: int, data: memoryview) -> int:
        if full.is_set():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_all(file, data)

    monkeypatch.setattr("fsgreen.meters.core.rawtrace.os.write", write)
    with Capture({"rail": meters["rail"]}, tmp_path / "power.raw") as capture:
        capture.on_fault(told.set)
        wait_for(lambda: total_w(capture) is not None)
        full.set()
        wait_for(told.is_set)
        full.clear()
    assert "cannot be written" in capture.fault.what
    assert "df -h" in capture.fault.next_step
    assert set(reparse(tmp_path / "power.raw")["quality"]) == {"ok"}


def test_step_of_the_hosts_wall_clock_moves_no_reading(meters, tmp_path, monkeypatch) -> None:
    wall_s = time.time
    with Capture(meters, tmp_path / "power.raw") as capture:
        wait_for(lambda: total_w(capture) is not None)
        start_s = time.monotonic()
        time.sleep(0.3)
        monkeypatch.setattr(time, "time", lambda: wall_s() - 3600)
        time.sleep(0.3)
        end_s = time.monotonic()
        wait_for(lambda: total_w(capture, since_s=end_s) is not None)
    power = reparse(tmp_path / "power.raw")
    rail = power[power["meter"] == "rail"]
    assert trace.check_trace(rail, start_s, end_s, 10_000.0) == []


def test_chunk_that_completes_thousands_of_readings_is_taken_at_once(
    meters, sensor, tmp_path
) -> None:
    sensor.every_s = 0.7
    with Capture({"rail": meters["rail"]}, tmp_path / "power.raw") as capture:
        wait_for(lambda: total_w(capture) is not None)
        wait_for(lambda: len(capture.since("rail", -np.inf)) > 14_000)
    power = reparse(tmp_path / "power.raw")
    assert (np.diff(power["time_s"]) > 0).all()
    assert set(power["quality"]) == {"ok"}


class Broken:
    """A meter whose driver has an error of its own, in `read` or in `stop`."""

    def __init__(self, meter, where: str) -> None:
        self._meter, self._where = meter, where
        self.closed = False

    def describe(self) -> trace.MeterInfo:
        return self._meter.describe()

    def start(self) -> None:
        self._meter.start()

    def read(self, timeout_s: float) -> Chunk | None:
        if self._where == "read":
            raise ZeroDivisionError("an error of the driver")
        return self._meter.read(timeout_s)

    def stop(self) -> None:
        self._meter.stop()
        if self._where == "stop":
            raise FsgreenError("the meter does not stop")

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("where", "message"), [("read", "an error of the driver"), ("stop", "does not stop")]
)
def test_driver_that_fails_is_told_and_the_others_are_recorded_and_stopped(
    meters, tmp_path: Path, where, message
) -> None:
    broken = Broken(meters["rail"], where)
    with Capture({"rail": broken, "wall": meters["wall"]}, tmp_path / "power.raw") as capture:
        wait_for(lambda: capture.latest_w("wall") is not None)
    assert message in capture.fault.what
    assert broken.closed
    assert not capture.running
    assert "wall" in set(reparse(tmp_path / "power.raw")["meter"])
