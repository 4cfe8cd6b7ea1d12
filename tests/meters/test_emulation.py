"""`emulate = true`: every driver that offers it reads its emulator, and the record says so."""

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.meters import Driver, open_meters
from fsgreen.meters.core import registry
from tests.emulated import wattsup
from tests.patience import leaves_nothing

PROFILE = """
[flat]
driven_by = "cpu"
covers = ["server"]
idle_w = 42.0
peak_w = 42.0
source = "made up for this test"
"""
ACCURACY = {"gain_error": 0.01, "constant_error_w": 0.1, "source": "made up"}
SETTINGS = {
    "wattsup": {},
    "scpi": {"voltage_range_v": 300, "current_range_a": 5, "update_s": 0.1},
    "snmp": {"interval_s": 0.1},
    "shelly": {"interval_s": 0.1},
    "tasmota": {"interval_s": 0.1},
    "redfish": {"rate_hz": 5},
    "powersensor3": ACCURACY,
    "blocks": ACCURACY,
}


def test_these_are_the_drivers_with_an_emulator():
    drivers = [registry.load(name) for name in registry.names()]
    assert {d.name for d in drivers if isinstance(d, Driver) and d.emulator} == set(SETTINGS)


def measure_twice(entry):
    (meter,) = open_meters([entry], lambda: None).values()
    try:
        info = meter.describe()
        assert info.driver == entry["driver"]
        assert (info.boundary, info.covers) == ("modelled", ("server",))
        assert info.driver == "powersensor3" or "emulated-system" in info.serial.lower()
        assert "power model flat" in info.source
        for _ in range(2):
            meter.start()
            parser = registry.parser_of(info)
            powers_w = []
            while len(powers_w) < 2:
                chunk = meter.read(2.0)
                powers_w += [] if chunk is None else [r.power_w for r in parser.feed(chunk)]
            assert powers_w[-1] == pytest.approx(42.0, rel=0.01)
            meter.close()
    finally:
        meter.close()


@pytest.mark.parametrize("driver", SETTINGS)
def test_emulated_meter_measures_the_model_and_says_so(driver, tmp_path):
    """A course without a meter sees the real path, and no one takes its watts for measured."""
    (tmp_path / "flat.toml").write_text(PROFILE)
    entry = {"name": "system", "driver": driver, "emulate": True, "profile": "flat"}
    entry |= {"profile_file": str(tmp_path / "flat.toml")} | SETTINGS[driver]
    with leaves_nothing():
        measure_twice(entry)


def test_power_model_that_fails_in_mid_trial_is_the_cause_that_is_told():
    asked = []

    def power_w():
        asked.append(None)
        if len(asked) > 3:
            raise FsgreenError("the kernel's counters cannot be read")
        return 10.0

    meter = wattsup(power_w, pace_s=0.05)
    try:
        meter.start()
        with pytest.raises(FsgreenError, match="counters cannot be read"):
            while True:
                meter.read(0.2)
    finally:
        meter.close()
