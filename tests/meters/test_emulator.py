import math
import os
import threading
import time
from contextlib import closing

import pytest
from asked import trial

from fsgreen.errors import FsgreenError
from fsgreen.meters.wattsup.driver import DRIVER
from fsgreen.meters.wattsup.packets import parse
from tests.emulated import wattsup

PACE_S = 0.05


def emulated(power_w=lambda: 173.26, pace_s=PACE_S):
    return wattsup(power_w, covers=("server",), pace_s=pace_s)


def quality(reading):
    """But for the remark that a reader that stood still found several records at once."""
    return reading.quality.replace("retimed", "ok")


def test_readings_have_the_resolution_and_the_coherence_of_the_real_meter():
    with closing(emulated()) as meter:
        readings = trial(meter, DRIVER, 4)
    for reading in readings:
        assert quality(reading) == "ok"
        assert reading.power_w == pytest.approx(173.3)
        assert reading.voltage_v * reading.current_a * 0.97 == pytest.approx(173.3, abs=0.1)


def test_modelled_power_says_so():
    with closing(emulated()) as meter:
        info = meter.describe()
    assert info.boundary == "modelled"
    assert info.serial == "emulated-system"
    assert info.source.startswith("test")


def test_pace_does_not_drift():
    """A pace that lost a millisecond a record would end some 20 ms late.

    A machine that stands still only adds to how late a record is, or leaves whole ones out.
    """
    with closing(emulated()) as meter:
        readings = trial(meter, DRIVER, 30)
    late_s = [reading.time_s - nth * PACE_S for nth, reading in enumerate(readings)]
    drift_s = math.remainder(min(late_s[-10:]) - min(late_s[:10]), PACE_S)
    assert abs(drift_s) < 0.015


def test_counter_advances_by_tenths_of_a_watt_hour():
    last_s = time.monotonic()

    def power_w():
        """A tenth of a watt-hour since the record before, whenever that was."""
        nonlocal last_s
        before_s, last_s = last_s, time.monotonic()
        return 360.0 / (last_s - before_s)

    with closing(emulated(power_w)) as meter:
        counts = [reading.energy_wh for reading in trial(meter, DRIVER, 8)]
    assert (counts[7] - counts[0]) / 7 == pytest.approx(0.1, abs=0.06)


def test_it_hears_only_commands_that_clear_nothing():
    with closing(emulated()) as meter:
        trial(meter, DRIVER, 1)
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
    assert set(map(quality, readings)) == qualities
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
        assert quality(trial(meter, DRIVER, 1)[0]) == "ok"


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
