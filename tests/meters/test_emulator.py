import time
from contextlib import closing

import pytest
from asked import trial

from fsgreen.errors import FsgreenError
from fsgreen.meters.wattsup.driver import DRIVER
from tests.emulated import Emulator, wattsup
from tests.patience import leaves_nothing, listen_for_chunks
from tests.traces import parse

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


class Noting(Emulator):
    """Notes when it would have said something."""

    def say(self, text):
        self.said_s.append(time.monotonic())


def test_pace_does_not_drift(monkeypatch):
    """However late it wakes for each record, the next is due when it was."""
    now_s = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    emulator = Noting(lambda: 173.26, pace_s=PACE_S)
    emulator.said_s = []
    emulator.hear(b"#L,W,3,E,0,1;")
    for nth in range(1, 1001):
        now_s += emulator.wait_s() + 0.001
        emulator.speak()
        assert emulator.said_s[-1] == pytest.approx(100.0 + nth * PACE_S + 0.001)
    assert len(emulator.said_s) == 1000


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


def start(meter, misbehaviour):
    """Start a meter, and leave out what it said before it misbehaved."""
    meter.start()
    meter.emulator.misbehaviour = misbehaviour
    while meter.read(0.0) is not None:
        pass


def heard(meter, count):
    """So many chunks of a meter that was started."""
    return listen_for_chunks(meter, lambda chunks: len(chunks) >= count)


def test_stray_zero_bytes_change_no_value():
    with closing(emulated()) as meter:
        meter.start()
        meter.emulator.misbehaviour = "nul"
        readings = parse(heard(meter, 4), meter.describe())
    assert set(map(quality, readings)) == {"ok"}
    assert all(reading.power_w == pytest.approx(173.3) for reading in readings)


@pytest.mark.parametrize("misbehaviour", ["cut", "silent"])
def test_what_is_not_whole_is_no_value(misbehaviour):
    with closing(emulated()) as meter:
        start(meter, misbehaviour)
        chunks = [chunk for _ in range(4) if (chunk := meter.read(0.2)) is not None]
        assert not parse(chunks, meter.describe())


def test_garbage_makes_readings_without_value():
    with closing(emulated()) as meter:
        start(meter, "garbage")
        readings = parse(heard(meter, 3), meter.describe())
    assert not any(reading.power_w > 0 for reading in readings)


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
    with leaves_nothing():
        meter = emulated()
        meter.start()
        meter.close()
        meter.close()
