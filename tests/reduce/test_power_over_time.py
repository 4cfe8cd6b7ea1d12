"""Power over time: bins of one width that are means of readings, and none where others worked."""

from pathlib import Path

import numpy as np
import pytest
import synthetic

from fsgreen import reduce
from fsgreen.design.columns import POWER_OVER_TIME
from fsgreen.reduce.power_over_time import bins_s, width_s
from fsgreen.trial import Trial


@pytest.mark.parametrize(
    ("length_s", "rate_hz", "expected_s"),
    [
        (9.0, 20.0, 0.1),
        (9.0, 1.0, 2.0),  # two readings, not what is between them
        (9.0, 10_000.0, 0.1),
        (0.3, 10_000.0, 0.005),
        (600.0, 20.0, 10.0),
    ],
)
def test_a_trial_has_few_bins_and_each_several_readings(length_s, rate_hz, expected_s):
    assert width_s(length_s, rate_hz) == expected_s


def test_trials_of_one_plan_have_one_width():
    """Of ten seconds each, one ended a little earlier and one later: they could not be compared."""
    assert width_s(9.998, 20.0) == width_s(10.003, 20.0) == 0.1


def test_each_bin_is_the_mean_of_a_meter_from_the_start_of_what_was_measured(tmp_path, monkeypatch):
    """Power that rises by a watt a second, of which the disk has ten."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("small", synthetic.make_plan(), power_w=tuple(250.0 + np.arange(26.0)))
    reduce.write("small")
    table, trials = (reduce.read_table("small", name) for name in ("power_over_time", "trials"))
    assert tuple(table) == POWER_OVER_TIME
    assert {*table["boundary"]} == {"modelled"}
    for trial in trials.to_dict("records"):
        of_trial = table[table["trial"] == trial["trial"]].set_index("meter")
        system, disk = (of_trial.loc[name] for name in ("system", "disk"))
        assert system["time_s"].tolist() == disk["time_s"].tolist() == [2, 4, 6, 8, 10]
        assert system["power_w"].tolist() == pytest.approx([251, 253, 255, 257, 259])
        assert disk["power_w"].tolist() == pytest.approx([10] * 5)
        assert system["power_w"].mean() == pytest.approx(trial["power_system_w"])


def test_a_trial_in_windows_has_no_bins():
    """They would hold the power of others, which worked between its windows."""
    phases = [
        {"name": "measure", "start_s": start_s, "end_s": start_s + 2} for start_s in (10.0, 14.0)
    ]
    assert bins_s(Trial(Path("one"), synthetic.record(phases=phases))) == {}


def test_what_is_left_at_the_end_has_no_bin():
    phases = [{"name": "measure", "start_s": 10.0, "end_s": 19.9}]
    edges_s, other_s = bins_s(Trial(Path("one"), synthetic.record(phases=phases))).values()
    assert edges_s.tolist() == other_s.tolist() == [10, 12, 14, 16, 18]
