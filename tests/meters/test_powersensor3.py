import json
import time
from contextlib import closing
from dataclasses import asdict, replace

import numpy as np
import pytest
from fast_meters import parsed, powersensor3_stream
from wattsup_texts import dialogue, told

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.powersensor3 import driver as powersensor3
from fsgreen.meters.powersensor3.driver import DRIVER, PowerSensor3, PowerSensor3Settings
from fsgreen.meters.powersensor3.emulator import DIVIDER, MLX10, OFF, record_of
from fsgreen.meters.powersensor3.emulator import Emulator as SoundEmulator
from fsgreen.meters.powersensor3.packets import PowerSensor3Parser
from tests.patience import leaves_nothing, listen, listen_for_chunks, until_calm

STOP = ("X", "\xff\x3f\xff\x3f")
VERSION = ("V", "F411-1.6.1\r\n")
SAMPLES = powersensor3_stream(np.arange(200)).decode("latin-1")


def settings_of(*sensors):
    """What is said when the settings are asked for: any byte draws the next record."""
    records = [record_of(s).decode("latin-1") for s in [*sensors, *[OFF] * (8 - len(sensors))]]
    return [("R", records[0]), *[("s", record) for record in records[1:]], ("s", "D")]


OPENING = (STOP, VERSION, *settings_of(MLX10, DIVIDER), ("S", SAMPLES), STOP)


def meter_on(port):
    accuracy = {"gain_error": 0.01, "constant_error_w": 0.5, "source": "a bench supply and a load"}
    entry = {"name": "rail", "driver": "powersensor3", "port": port, "volts": 12.0}
    return PowerSensor3(PowerSensor3Settings.of(entry | accuracy))


@pytest.fixture
def impatient(monkeypatch):
    """For what must not come."""
    monkeypatch.setattr(powersensor3, "REPLY_S", 1.0)


def test_opening_asks_for_settings_and_rate_and_writes_nothing():
    """The script holds every byte that is sent: no W is among them."""
    with dialogue(*OPENING) as port, closing(meter_on(port)) as meter:
        info = meter.describe()
    assert info.model == "PowerSensor3, firmware F411-1.6.1, 12V (MLX10)"
    assert (info.boundary, info.covers, info.rate_hz) == ("dc-rail", ("disk",), 20000.0)
    assert info.range_w == pytest.approx(13.75 * 12)
    assert info.resolution_w == pytest.approx(3.3 / 1023 / 0.12 * 12)
    assert (info.gain_error, info.constant_error_w) == (0.01, 0.5)
    assert info.source == "a bench supply and a load"
    assert info.serial.startswith("settings ")


def test_stream_that_a_dead_program_left_running_is_stopped_first():
    opening = (("X", SAMPLES + STOP[1]), *OPENING[1:])
    with dialogue(*opening) as port, closing(meter_on(port)) as meter:
        assert meter.describe().rate_hz == 20000.0


def joined(chunks):
    return b"".join(chunk.data for chunk in chunks)


def test_raw_bytes_of_a_trial_are_the_stream():
    script = (*OPENING, ("S", SAMPLES), STOP)
    with dialogue(*script) as port, closing(meter_on(port)) as meter:
        meter.start()
        chunks = listen_for_chunks(meter, lambda chunks: len(joined(chunks)) >= len(SAMPLES))
        meter.stop()
        assert joined(chunks) == SAMPLES.encode("latin-1")
        readings = parsed(PowerSensor3Parser(meter.describe()), chunks)
    assert readings.power_w == pytest.approx(12.0, abs=0.2)


def test_rate_of_another_board_is_found():
    numbers = np.arange(200)
    stamps = numbers * 1e6 // 17500 - numbers * 50
    f401 = powersensor3_stream(numbers, jitter_us=stamps).decode("latin-1")
    opening = (*OPENING[:-2], ("S", f401), STOP)
    with dialogue(*opening) as port, closing(meter_on(port)) as meter:
        assert meter.describe().rate_hz == pytest.approx(17500, abs=20)


def failing(port):
    with pytest.raises(FsgreenError) as caught:
        meter_on(port)
    assert caught.value.where == port
    assert caught.value.next_step
    return caught.value.what


def test_missing_port_is_named():
    assert "missing" in failing("/dev/serial/by-id/no-such-meter")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("command", ["X", "V", "R"])
def test_meter_that_does_not_answer_is_silent(command):
    script = list(OPENING[: ["X", "V", "R"].index(command)])
    expected = f"the meter is silent: no reply to {command} within 1 s"
    assert expected in told(failing, expected, *script, (command, ""))


@pytest.mark.usefixtures("impatient")
def test_port_with_another_language_speaks_garbage():
    assert "garbage" in told(failing, "garbage", ("X", "#v,-,8,1,0;\r\n"))


def test_settings_without_their_end_are_garbage():
    with dialogue(STOP, VERSION, *settings_of(MLX10, DIVIDER)[:-1], ("s", "E")) as port:
        assert "garbage" in failing(port)


@pytest.mark.parametrize(
    ("sensors", "message"),
    [
        ((OFF, OFF), "no pair of sensors is in use"),
        ((MLX10, OFF), "of pair 0 only one sensor is in use"),
        ((OFF, OFF, OFF, DIVIDER), "of pair 1 only one sensor is in use"),
        ((replace(MLX10, sensitivity=0.0), DIVIDER), "no number"),
        ((replace(MLX10, zero_v=float("nan")), DIVIDER), "no number"),
        ((MLX10, replace(DIVIDER, sensitivity=float("inf"))), "no number"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(sensors, message):
    with dialogue(STOP, VERSION, *settings_of(*sensors)) as port:
        assert message in failing(port)


@pytest.mark.usefixtures("impatient")
def test_meter_without_samples_is_refused():
    assert "no samples" in told(failing, "no samples", *OPENING[:-2], ("S", ""), STOP)


@pytest.mark.usefixtures("impatient")
def test_failed_opening_leaves_the_port_free():
    with leaves_nothing(), dialogue(("X", "")) as port:
        failing(port)


def test_lost_meter_is_opened_again_by_start_and_another_is_refused():
    others = (STOP, VERSION, *settings_of(replace(MLX10, zero_v=1.7), DIVIDER), *OPENING[-2:])
    script = (*OPENING, *OPENING, ("S", SAMPLES), *others)
    with dialogue(*script) as port, closing(meter_on(port)) as meter:
        meter.close()
        meter.start()
        assert listen_for_chunks(meter, bool)
        meter.close()
        with pytest.raises(FsgreenError, match="not the same meter"):
            meter.start()


ENTRY = {
    "name": "ssd",
    "driver": "powersensor3",
    "gain_error": 0.01,
    "constant_error_w": 0.5,
    "source": "bench",
}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (ENTRY, "the key port is missing"),
        (
            {k: v for k, v in ENTRY.items() if k != "source"} | {"port": "x"},
            "the key source is missing",
        ),
        (ENTRY | {"port": "x", "volts": -12.0}, "volts: takes a number above 0"),
        (ENTRY | {"port": "x", "baud": 1}, "unknown key baud"),
    ],
)
def test_wrong_setting_is_named(entry, message):
    with pytest.raises(FsgreenError, match=message):
        PowerSensor3(PowerSensor3Settings.of(entry))


def test_finding_meters_never_raises():
    assert all(line.startswith("port = ") for line in DRIVER.find())


def opened(emulator):
    entry = ENTRY | {"port": emulator.port, "covers": ["drive"]}
    return closing(PowerSensor3(PowerSensor3Settings.of(entry)))


class Emulator(SoundEmulator):
    """Its clock runs `drift_ppm` fast; it may drop bytes or stall once, and marks samples."""

    def __init__(self, load_a, drift_ppm=0.0):
        super().__init__(load_a)
        self.began_s, self.drift_ppm = time.monotonic(), drift_ppm
        self.drop_b, self.stall_s, self.marks = 0, 0.0, 0

    def taken_count(self):
        return round(super().taken_count() * (1 + self.drift_ppm * 1e-6))

    def obey(self, byte):
        if byte == b"M":
            self.marks += 1
        else:
            super().obey(byte)

    def speak(self):
        due_s = (self.taken_count() - self._sent_count) / self.rate_hz
        if self.stall_s > due_s:
            return
        if self.stall_s:
            self.stall_s, self._sent_count = 0.0, self.taken_count() - 1
        super().speak()

    def stream(self, numbers):
        data = super().stream(numbers)
        if self.marks:
            self.marks -= 1
            data = data[:3] + bytes([data[3] | 0x40]) + data[4:]
        data, self.drop_b = data[self.drop_b :], 0
        return data


def heard(meter, parser, count):
    return listen(meter, parser, until=lambda readings: len(readings) > count)


@pytest.mark.parametrize("drift_ppm", [-100.0, 100.0])
def test_emulated_meter_is_read_and_called_modelled(drift_ppm):
    with Emulator(lambda _: 1.5, drift_ppm=drift_ppm) as emulator, opened(emulator) as meter:
        info = meter.describe()
        assert (info.boundary, info.covers) == ("modelled", ("drive",))
        meter.start()
        readings = heard(meter, PowerSensor3Parser(info), 8000)
        meter.stop()
    assert readings.power_w == pytest.approx(18.0, abs=0.3)
    assert np.diff(readings.time_s).min() > 0


def test_trial_holds_no_sample_from_before_its_start():
    emulated = Emulator(lambda time_s: np.where(time_s < 1.0, 3.0, 1.0))
    with emulated as emulator, opened(emulator) as meter:
        parser = PowerSensor3Parser(meter.describe())
        meter.start()
        time.sleep(max(0.0, emulator.began_s + 1.0 - time.monotonic()))
        meter.stop()
        meter.start()
        readings = heard(meter, parser, 2000)
    assert readings.power_w == pytest.approx(12.0, abs=0.3)


@pytest.mark.parametrize("fault", ["drop_b", "stall_s"])
def test_faults_of_the_line_are_flagged(fault):
    """On a busy machine the emulator's own thread stalls too, so that there may be more losses, and
    longer ones; and the first chunk after a loss, to which the clock is tied anew, may be late."""
    late_s = 0.1

    def recorded():
        with Emulator(lambda _: 1.0) as emulator, opened(emulator) as meter:
            parser = PowerSensor3Parser(meter.describe())
            start_s = time.monotonic()
            meter.start()
            before = heard(meter, parser, 4000)
            setattr(emulator, fault, 7 if fault == "drop_b" else 0.2)
            after = heard(meter, parser, 8000)
            for _ in range(50):  # on a busy machine so many samples had come before the fault
                if "lost" in after.flags.values():
                    break
                after = Readings.joined([after, heard(meter, parser, 8000)])
            return before, after, start_s, time.monotonic()

    before, after, start_s, end_s = until_calm(
        recorded, lambda found: found[1].time_s[-1] <= found[3] + late_s
    )
    readings = Readings.joined([before, after])
    steps_s = np.diff(readings.time_s)
    assert steps_s.min() > 0
    assert start_s <= readings.time_s[0] and readings.time_s[-1] <= end_s + late_s
    assert "lost" in after.flags.values()
    if fault == "stall_s":
        assert steps_s.max() > 0.2 - late_s
        assert readings.flags[int(steps_s.argmax()) + 1] == "lost"


def test_markers_change_no_value():
    with Emulator(lambda _: 1.0) as emulator, opened(emulator) as meter:
        parser = PowerSensor3Parser(meter.describe())
        meter.start()
        meter._line.write(b"MM")
        readings = heard(meter, parser, 4000)
    assert readings.power_w == pytest.approx(12.0, abs=0.2)


def test_pulled_cable_is_told_and_another_meter_on_the_port_refused():
    with Emulator(lambda _: 1.0) as emulator, opened(emulator) as meter:
        meter.close()
        emulator.streaming, emulator.sensors = False, [replace(MLX10, zero_v=1.6), DIVIDER]
        with pytest.raises(FsgreenError, match="not the same meter"):
            meter.start()
    with Emulator(lambda _: 1.0) as emulator, opened(emulator) as meter:
        meter.start()
        emulator.unplug()
        with pytest.raises(FsgreenError, match="vanished"):
            while True:
                meter.read(0.1)


def test_numbers_of_a_sensor_that_is_off_may_be_none():
    """A new board has erased settings: its campaign would stop after the idle measurement."""
    erased = replace(MLX10, in_use=False, zero_v=float("nan"), sensitivity=float("nan"))
    opening = (STOP, VERSION, *settings_of(MLX10, DIVIDER, erased, erased), ("S", SAMPLES), STOP)
    with dialogue(*opening) as port, closing(meter_on(port)) as meter:
        recorded = asdict(meter.describe())
    assert json.loads(json.dumps(recorded, allow_nan=False))["options"]["sensors"][2][4] is False
