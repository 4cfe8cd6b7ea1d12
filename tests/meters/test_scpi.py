import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from asked import conversation, opened, read, trial

from fsgreen.errors import FsgreenError
from fsgreen.meters.scpi import driver as scpi
from fsgreen.meters.scpi import visa
from fsgreen.meters.scpi.driver import DRIVER
from fsgreen.meters.scpi.emulator import EmulatedAnalyzer as SoundAnalyzer
from tests.patience import leaves_nothing

RANGES = {"voltage_range_v": 300, "current_range_a": 2}
NO_ERROR = (":STATUS:ERROR?", '0,"No error"\n')
SETUP = (
    ("*CLS", ""),
    ("*IDN?", "YOKOGAWA,WT310E,C2QK12345E,F1.04\n"),
    (":INTEGRATE:STATE?", "RES\n"),
    (":INTEGRATE:RESET", ""),
    *((":COMMUNICATE:HEADER 0", ""), (":COMMUNICATE:HEADER?", "0\n")),
    *((":HOLD 0", ""), (":HOLD?", "0\n")),
    *((":INPUT:CFACTOR 3", ""), (":INPUT:CFACTOR?", "3\n")),
    *((":INPUT:MODE RMS", ""), (":INPUT:MODE?", "RMS\n")),
    *((":INPUT:VOLTAGE:AUTO 0", ""), (":INPUT:VOLTAGE:AUTO?", "0\n")),
    *((":INPUT:VOLTAGE:RANGE 300", ""), (":INPUT:VOLTAGE:RANGE?", "300.0E+00\n")),
    *((":INPUT:CURRENT:AUTO 0", ""), (":INPUT:CURRENT:AUTO?", "0\n")),
    *((":INPUT:CURRENT:RANGE 2", ""), (":INPUT:CURRENT:RANGE?", "2.000E+00\n")),
    *((":INPUT:FILTER:LINE 0", ""), (":INPUT:FILTER:LINE?", "0\n")),
    *((":INPUT:FILTER:FREQUENCY 0", ""), (":INPUT:FILTER:FREQUENCY?", "0\n")),
    *((":MEASURE:AVERAGING:STATE 0", ""), (":MEASURE:AVERAGING:STATE?", "0\n")),
    *((":RATE 1", ""), (":RATE?", "1.0E+00\n")),
    *((":NUMERIC:FORMAT ASCII", ""), (":NUMERIC:FORMAT?", "ASC\n")),
    *((":NUMERIC:NORMAL:NUMBER 6", ""), (":NUMERIC:NORMAL:NUMBER?", "6\n")),
    *((":NUMERIC:NORMAL:ITEM1 P,1", ""), (":NUMERIC:NORMAL:ITEM1?", "P,1\n")),
    *((":NUMERIC:NORMAL:ITEM2 U,1", ""), (":NUMERIC:NORMAL:ITEM2?", "U,1\n")),
    *((":NUMERIC:NORMAL:ITEM3 I,1", ""), (":NUMERIC:NORMAL:ITEM3?", "I,1\n")),
    *((":NUMERIC:NORMAL:ITEM4 WH,1", ""), (":NUMERIC:NORMAL:ITEM4?", "WH,1\n")),
    *((":NUMERIC:NORMAL:ITEM5 URANGE,1", ""), (":NUMERIC:NORMAL:ITEM5?", "URAN,1\n")),
    *((":NUMERIC:NORMAL:ITEM6 IRANGE,1", ""), (":NUMERIC:NORMAL:ITEM6?", "IRAN,1\n")),
    *((":INTEGRATE:MODE NORMAL", ""), (":INTEGRATE:MODE?", "NORM\n")),
    *((":INTEGRATE:TIMER 0,0,0", ""), (":INTEGRATE:TIMER?", "0,0,0\n")),
    (":INPUT:WIRING?", "P1W2\n"),
    NO_ERROR,
)
VALUES = "97.30E+00,230.12E+00,0.4451E+00,12.345E-03,300.0E+00,2.000E+00\n"


class EmulatedAnalyzer(SoundAnalyzer):
    """`fault`: silent, half (of an answer), nan, infinite, short (a value too few), garbage."""

    def __init__(self, power_w):
        super().__init__(power_w)
        self.fault = None
        self.received = []

    def obey(self, command):
        self.received.append(command)
        return None if self.fault == "silent" else super().obey(command)

    def values(self):
        cells = super().values()
        match self.fault:
            case "nan":
                return ["NAN"] * len(cells)
            case "infinite":
                return ["9.9E+37"] * len(cells)
            case "short":
                return cells[:-1]
            case "garbage":
                return ["\xff\xfe~" * 5]
            case "half":
                text = ",".join(cells)
                return [text[: len(text) // 2]]
        return cells


@pytest.fixture
def analyzer():
    with EmulatedAnalyzer(lambda: 97.3) as emulated:
        yield emulated


def meter_of(analyzer, **changed):
    table = RANGES | {"update_s": 0.1} | changed
    return opened(DRIVER, resource=analyzer.resource, **table)


def refused(analyzer, **changed):
    with pytest.raises(FsgreenError) as caught:
        meter_of(analyzer, **changed)
    assert caught.value.where
    assert caught.value.next_step
    return caught.value.what


def test_every_setting_is_read_back_and_nothing_else_is_sent():
    begin = ((":INTEGRATE:START", ""), NO_ERROR)
    end = ((":INTEGRATE:STOP", ""), NO_ERROR)
    seen = (scpi.VALUES, VALUES.replace("12.345E-03", "NAN"))
    script = (*SETUP, seen, *SETUP, *begin, (scpi.VALUES, VALUES), *end)
    with conversation(*script) as port:
        resource = f"TCPIP::127.0.0.1::{port}::SOCKET"
        with closing(opened(DRIVER, resource=resource, **RANGES)) as meter:
            (reading,) = trial(meter, DRIVER, 1)
    assert (reading.power_w, reading.quality) == (97.3, "ok")


def test_description_stores_ranges_filters_wiring_firmware_and_serial(analyzer):
    with closing(meter_of(analyzer)) as meter:
        info = meter.describe()
    assert info.model == "YOKOGAWA WT310E, firmware F1.04"
    assert info.serial == "C2QK12345E"
    assert (info.boundary, info.range_w, info.resolution_w) == ("wall", 600.0, 0.01)
    answers = info.options["set"]
    assert float(answers[":INPUT:VOLTAGE:RANGE"]) == 300
    assert float(answers[":INPUT:CURRENT:RANGE"]) == 2
    assert answers[":INPUT:FILTER:LINE"] == "0"
    assert answers[":INPUT:WIRING"] == "P1W2"


def test_analyzer_in_pyvisa_sim_is_set_up_and_read():
    simulation = f"{Path(__file__).with_name('wt310e.yaml')}@sim"
    resource = "TCPIP::localhost::5025::SOCKET"
    with closing(opened(DRIVER, resource=resource, visa=simulation, **RANGES)) as meter:
        reading, *_ = trial(meter, DRIVER, 1)
    assert (reading.power_w, reading.quality) == (97.3, "ok")


def test_watts_and_watt_hours_are_the_loads(analyzer):
    with closing(meter_of(analyzer)) as meter:
        begin_s = time.monotonic()
        readings = trial(meter, DRIVER, 4)
        longest_s = time.monotonic() - begin_s
    assert {reading.power_w for reading in readings} == {97.3}
    counted_wh = [reading.energy_wh for reading in readings]
    assert all(before < after for before, after in pairwise(counted_wh))
    assert counted_wh[-1] <= analyzer.energy_wh <= 97.3 * longest_s / 3600


@pytest.mark.parametrize(
    ("fault", "flag"),
    [
        ("nan", "missing"),
        ("infinite", "over-range"),
        ("short", "bad-count"),
        ("half", "bad-count"),
        ("garbage", "bad-count"),
    ],
)
def test_answer_without_values_is_flagged(analyzer, fault, flag):
    with closing(meter_of(analyzer)) as meter:
        analyzer.fault = None
        meter.start()
        analyzer.fault = fault
        chunk = meter.read(1.0)
    (reading,) = read(DRIVER, meter.describe(), chunk.data)
    assert flag in reading.quality.split("|")
    assert reading.power_w != reading.power_w


def test_load_above_the_fixed_range_is_over_range_not_a_number(analyzer):
    with closing(meter_of(analyzer)) as meter:
        analyzer.power_w = lambda: 970.0
        (reading,) = trial(meter, DRIVER, 1)
    assert "over-range" in reading.quality
    assert reading.power_w != reading.power_w
    assert "gives no power: over-range" in refused(analyzer)


def test_range_changed_on_the_panel_is_inconsistent(analyzer):
    with closing(meter_of(analyzer)) as meter:
        meter.start()
        analyzer.settings[":INPUT:CURRENT:RANGE"] = "5"
        chunk = meter.read(1.0)
    (reading,) = read(DRIVER, meter.describe(), chunk.data)
    assert reading.quality == "inconsistent"


def test_auto_range_is_refused_and_switched_off(analyzer):
    assert "takes a number" in refused(analyzer, current_range_a="auto")
    meter_of(analyzer).close()
    assert analyzer.settings[":INPUT:CURRENT:AUTO"] == "0"
    assert analyzer.settings[":INPUT:VOLTAGE:AUTO"] == "0"


def test_range_that_the_analyzer_does_not_have_is_told_in_its_words(analyzer):
    assert "Data out of range" in refused(analyzer, voltage_range_v=299)


def test_setting_that_is_not_taken_is_told(analyzer):
    class Stuck(dict):
        def __setitem__(self, header, value):
            if header != ":INPUT:FILTER:LINE":
                super().__setitem__(header, value)

    analyzer.settings = Stuck(analyzer.settings)
    assert ":INPUT:FILTER:LINE was set to 0" in refused(analyzer)


def test_integration_of_somebody_else_is_not_ended(analyzer):
    analyzer.integrating = True
    assert "integrating already" in refused(analyzer)
    assert analyzer.integrating


def test_integration_is_ended_with_the_trial(analyzer):
    with closing(meter_of(analyzer)) as meter:
        trial(meter, DRIVER, 1)
        assert not analyzer.integrating


def test_integration_can_be_left_alone(analyzer):
    with closing(meter_of(analyzer, integrate=False)) as meter:
        (reading,) = trial(meter, DRIVER, 1)
    assert reading.energy_wh != reading.energy_wh
    assert reading.quality == "ok"
    assert ":INTEGRATE:START" not in analyzer.received


@pytest.mark.parametrize(
    ("identity", "what"),
    [
        ("HAMEG,HM8118,1,2", "no commands and no accuracy are known"),
        ("hello", "no SCPI instrument"),
    ],
)
def test_instrument_that_is_not_known_is_refused(analyzer, identity, what):
    analyzer.identity = identity
    assert what in refused(analyzer)


def test_update_interval_that_the_model_lacks_is_refused(analyzer):
    assert "no update interval of 0.3 s" in refused(analyzer, update_s=0.3)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"power_factor": 0}, "power_factor: takes a number above 0"),
        ({"update_s": 0}, "update_s: takes a number above 0"),
        ({"element": "SIGMA"}, "needs a wiring"),
        ({"crest_factor": 4}, "crest_factor: takes 3 or 6"),
        ({"ranges": 3}, "unknown key ranges"),
    ],
)
def test_wrong_setting_is_named(analyzer, changed, what):
    assert what in refused(analyzer, **changed)
    assert not analyzer.received


@pytest.mark.parametrize(
    ("model", "changed", "gain_error", "constant_error_w"),
    [
        ("WT310E", {"power_factor": 1}, 0.001, 0.3),
        ("WT310EH", {"power_factor": 1}, 0.001, 0.3),
        ("WT310", {"power_factor": 1}, 0.001, 0.6),
        ("WT310E", {"power_factor": 1, "crest_factor": 6}, 0.001, 0.6),
        ("WT310E", {"power_factor": 1, "line_filter": True}, 0.004, 0.3),
        ("WT310E", {"power_factor": 0.5**0.5}, 0.002, 0.3),
        ("WT310", {"power_factor": 0.5**0.5}, 0.003, 0.6),
    ],
)
def test_accuracy_follows_model_ranges_filter_and_power_factor(
    analyzer, model, changed, gain_error, constant_error_w
):
    """By hand from the makers' formula: 300 V x 2 A is a power range of 600 W."""
    analyzer.identity = f"YOKOGAWA,{model},1,2"
    with closing(meter_of(analyzer, **changed)) as meter:
        info = meter.describe()
    assert info.gain_error == pytest.approx(gain_error)
    assert info.constant_error_w == pytest.approx(constant_error_w)


def test_silent_analyzer_is_a_fault_and_works_again_when_started_again(analyzer):
    with closing(meter_of(analyzer)) as meter:
        meter.start()
        meter._visa._line.timeout = 200
        analyzer.fault = "silent"
        with pytest.raises(FsgreenError, match="does not answer"):
            meter.read(1.0)
        meter.close()
        analyzer.fault = None
        (reading,) = trial(meter, DRIVER, 1)
    assert reading.quality == "ok"


def test_another_analyzer_at_the_same_place_is_refused(analyzer):
    with closing(meter_of(analyzer)) as meter:
        analyzer.identity = "YOKOGAWA,WT310E,OTHER,F1.04"
        with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
            meter.start()


def test_place_where_nothing_listens_is_told_and_leaves_nothing_open(monkeypatch):
    monkeypatch.setattr(visa, "TIMEOUT_MS", 200)
    for resource in ("TCPIP::127.0.0.1::1::SOCKET", "no resource at all"):
        with leaves_nothing(), pytest.raises(FsgreenError) as caught:
            opened(DRIVER, resource=resource, **RANGES)
        assert caught.value.where == resource


def test_missing_package_is_named(analyzer, monkeypatch):
    monkeypatch.setattr(scpi, "find_spec", lambda name: None)
    assert 'pip install "fsgreen[scpi]"' in DRIVER.missing()
    assert 'pip install "fsgreen[scpi]"' in refused(analyzer)
