import numpy as np
import pytest
from fast_meters import block

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.description import BlocksSettings, calibrate, description
from fsgreen.meters.blocks.emulator import RAIL_5V
from fsgreen.meters.core.readings import Readings

TABLE = {"name": "ssd", "driver": "blocks", "listen": "1", "source": "bench", "volts": 5.0}
TABLE |= {"gain_error": 0.01, "constant_error_w": 0.05}


def shown(current_a, flags=None):
    values = current_a + np.array([-0.01, 0.0, 0.01])
    return Readings(np.arange(3.0), values * 5, np.full(3, 5.0), values, flags=flags or {})


def set_to(**table):
    return BlocksSettings.of(TABLE | table)


def test_readings_at_known_currents_give_gain_and_offset():
    steps = [(0.0, shown(0.1)), (1.0, shown(1.05)), (2.0, shown(2.0))]
    found = calibrate(steps)
    assert found.gain == pytest.approx(2 / 1.9)
    assert found.offset == pytest.approx(-0.2 / 1.9)
    assert found.residual == pytest.approx(0.0, abs=1e-9)
    assert found.setting("5V", "A") == "5V A 1.05263 -0.105263"


def test_residual_tells_a_sensor_that_is_not_straight():
    assert calibrate([(0.0, shown(0.0)), (1.0, shown(1.2)), (2.0, shown(2.0))]).residual > 0.1


def test_volts_and_watts_are_calibrated_alike():
    steps = [(0.0, shown(0.0)), (4.0, shown(1.0))]
    assert calibrate(steps, "power_w").gain == pytest.approx(0.8)


def test_flagged_readings_do_not_calibrate():
    bad = shown(1.0, {1: "clipped"})
    bad.current_a[1] = 99.0
    found = calibrate([(0.0, shown(0.0)), (1.0, bad)])
    assert (found.gain, found.offset) == pytest.approx((1.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "two different known values"),
        ([(1.0, shown(1.0)), (1.0, shown(1.1))], "two different known values"),
        ([(0.0, shown(1.0)), (1.0, shown(1.0))], "two different known values"),
        ([(0.0, shown(0.0)), (1.0, shown(1.0, dict.fromkeys(range(3), "lost")))], "no sound"),
        ([(0.0, shown(0.0)), (1.0, Readings(np.arange(3.0), np.ones(3)))], "no sound"),
    ],
)
def test_what_cannot_calibrate_is_refused(steps, message):
    with pytest.raises(FsgreenError, match=message):
        calibrate(steps)


def test_change_over_a_campaign_is_averaged_and_adds_to_the_limits_of_error():
    settings = set_to(
        calibration=["5V A 1.00 0.01", "5V V 1.02 0.0"],
        calibration_after=["5V A 1.02 -0.01"],
        calibration_source="DMM 4",
    )
    amperes, volts = RAIL_5V
    calibration = settings.corrected()
    corrected = calibration.correction(amperes)
    assert (corrected.gain, corrected.offset) == pytest.approx((1.01, 0.0))
    assert calibration.gain_error(amperes) == pytest.approx(0.01)
    assert calibration.offset_error(amperes) == pytest.approx(0.01)
    assert calibration.correction(volts).gain == pytest.approx(1.02)
    assert calibration.gain_error(volts) == 0
    info = description(block(), settings)
    assert info.gain_error == pytest.approx(0.02)
    assert info.constant_error_w == pytest.approx(0.05 + 0.01 * 5)
    assert info.source == "bench; calibration: DMM 4"
    assert info.options["corrections"] == [[1.01, 0.0], [1.02, 0.0]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"calibration": ["5V A 1 0"]}, "the key calibration_source is missing"),
        ({"calibration": ["5V A 1"], "calibration_source": "x"}, "not NAME UNIT GAIN OFFSET"),
        ({"calibration": ["5V A one 0"], "calibration_source": "x"}, "not NAME UNIT"),
        ({"calibration": ["5V A 0 0"], "calibration_source": "x"}, "no gain above 0"),
        ({"calibration": ["5V A nan 0"], "calibration_source": "x"}, "no gain above 0"),
        ({"calibration": ["5V A 1 inf"], "calibration_source": "x"}, "no gain above 0"),
        ({"calibration_after": ["5V A 1 0"]}, "that calibration lacks"),
    ],
)
def test_wrong_line_is_named(table, message):
    with pytest.raises(FsgreenError, match=message):
        set_to(**table)


def test_calibration_of_a_channel_that_is_not_sent_is_refused():
    calibration = set_to(calibration=["12V A 1 0"], calibration_source="x").corrected()
    with pytest.raises(FsgreenError, match="names 12V A"):
        calibration.check(RAIL_5V)
