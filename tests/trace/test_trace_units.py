"""A trace in milliwatts, or in another quantity, must never pass for one in watts."""

import numpy as np
import pytest
from traces import INFO, sampled, whole_budget, whole_counter_energy_j, whole_energy_j

from fsgreen import trace
from fsgreen.errors import FsgreenError

READINGS = sampled(lambda t: 100 + 0 * t, np.arange(0.0, 61.0))
USES = {
    "energy_j": lambda r: whole_energy_j(r, 10, 50),
    "counter_energy_j": lambda r: whole_counter_energy_j(r, 10, 50),
    "check_trace": lambda r: trace.check_trace(r, 10, 50, 1.0),
    "error_budget": lambda r: whole_budget(r, 10, 50, INFO),
    "fit_clock": lambda r: trace.fit_clock(r, [(10.0, 20.0), (30.0, 40.0)]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize(
    ("renamed", "message"),
    [
        ({"power_w": "power_mw"}, "without a unit: power_mw"),
        ({"power_w": "watts"}, "without a unit: watts"),
        ({"power_w": "power_j"}, "power_j is in joules, not in watts"),
        ({"time_s": "time_ns"}, "time_ns is in nanoseconds, not in seconds"),
        ({"current_a": "current_w"}, "current_w is in watts, not in amperes"),
        ({"energy_wh": "energy_kwh"}, "without a unit: energy_kwh"),
        ({"time_s": "moment_s"}, "no column time_s"),
    ],
)
def test_column_without_its_unit_is_refused_by_every_use(use, renamed, message):
    with pytest.raises(FsgreenError, match=message):
        use(READINGS.rename(columns=renamed))


def test_texts_that_look_like_numbers_are_refused():
    with pytest.raises(FsgreenError, match="not numbers"):
        whole_energy_j(READINGS.assign(power_w="100.0"), 10, 50)


def test_further_columns_with_units_do_no_harm():
    more = READINGS.assign(temperature_count=1, note="steady", valid=True)
    assert whole_energy_j(more, 10, 50) == whole_energy_j(READINGS, 10, 50)
