import os
import threading
import time
from contextlib import closing
from itertools import pairwise

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.meters.emulators.wattsup import EmulatedMeter
from fsgreen.meters.wattsup.packets import parse

PACE_S = 0.05


def emulated(power_w=lambda: 173.26, pace_s=PACE_S):
    return EmulatedMeter(power_w, name="system", covers=("server",), source="test", pace_s=pace_s)


def record(meter, duration_s):
    meter.start()
    deadline_s = time.monotonic() + duration_s
    chunks = []
    while time.monotonic() < deadline_s:
        if chunk := meter.read(0.2):
            chunks.append(chunk)
    meter.stop()
    return parse(chunks, meter.describe())


def test_readings_have_the_resolution_and_the_coherence_of_the_real_meter():
    with closing(emulated()) as meter:
        readings = record(meter, 0.4)
    assert len(readings) >= 4
    for reading in readings:
        assert reading.quality == "ok"
        assert reading.power_w == pytest.approx(173.3)
        assert reading.voltage_v * reading.current_a * 0.97 == pytest.approx(173.3, abs=0.1)


def test_modelled_power_says_so():
    with closing(emulated()) as meter:
        info = meter.describe()
    assert info.boundary == "modelled"
    assert info.serial == "emulated-system"
    assert info.source.startswith("test")


def test_pace_does_not_drift():
    """A pace that lost a millisecond a record would end some 25 ms late."""
    with closing(emulated()) as meter:
        times_s = [reading.time_s for reading in record(meter, 1.5)]
    late_s = [(t - times_s[0] + PACE_S / 2) % PACE_S - PACE_S / 2 for t in times_s]
    ends_s = sorted(late_s[-7:])[3] - sorted(late_s[:7])[3]
    assert abs(ends_s) < 0.015


def test_counter_advances_by_tenths_of_a_watt_hour():
    with closing(emulated(lambda: 36000.0 / PACE_S / 100)) as meter:
        counts = [reading.energy_wh for reading in record(meter, 0.4)]
    steps = [b - a for a, b in pairwise(counts)]
    assert sum(steps) / len(steps) == pytest.approx(0.1, abs=0.06)


def test_it_hears_only_commands_that_clear_nothing():
    with closing(emulated()) as meter:
        record(meter, 0.3)
        heard = set(meter.emulator.received)
    assert heard == {"L", "V", "H", "L,E,0,1"}


@pytest.mark.parametrize(
    ("misbehaviour", "qualities"), [("nul", {"ok"}), ("cut", set()), ("silent", set())]
)
def test_misbehaviour_never_makes_a_wrong_value(misbehaviour, qualities):
    with closing(emulated()) as meter:
        meter.start()
        meter.emulator.misbehaviour = misbehaviour
        chunks = [chunk for _ in range(4) if (chunk := meter.read(0.2)) is not None]
        readings = parse(chunks, meter.describe())
    assert {reading.quality for reading in readings} == qualities
    assert all(reading.power_w == pytest.approx(173.3) for reading in readings)


def test_garbage_makes_readings_without_value():
    with closing(emulated()) as meter:
        meter.start()
        meter.emulator.misbehaviour = "garbage"
        chunks = [chunk for _ in range(4) if (chunk := meter.read(0.2)) is not None]
        readings = parse(chunks, meter.describe())
    assert not any(reading.power_w > 0 for reading in readings)
    assert len(chunks) > 2


def test_unplugged_meter_vanishes_and_comes_back():
    with closing(emulated()) as meter:
        meter.start()
        meter.emulator.unplug()
        with pytest.raises(FsgreenError, match="vanished"):
            while True:
                meter.read(0.2)
        meter.stop()
        assert [r.quality for r in record(meter, 0.3)][:1] == ["ok"]


def test_what_stops_the_power_model_is_told():
    def broken():
        raise FsgreenError("the kernel's counters cannot be read")

    with pytest.raises(FsgreenError, match="counters cannot be read"):
        emulated(broken)


def test_nothing_is_left_behind():
    before = set(os.listdir("/proc/self/fd")), threading.active_count()
    meter = emulated()
    meter.start()
    meter.close()
    meter.close()
    assert (set(os.listdir("/proc/self/fd")), threading.active_count()) == before
