import os
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.workingtime import RESTING, WORKING
from fsgreen.meters.modelled import Components
from fsgreen.meters.modelled.activity import RATES
from fsgreen.meters.modelled.fit import fit, leave_one_out
from fsgreen.meters.modelled.table import activity_table, predict_w

FUZZ = max(1, int(os.environ.get("FSGREEN_FUZZ_S", "1")))
TRUE_TERMS = {
    "cpu_user_w": 11.0,
    "cpu_system_w": 7.5,
    "disk_seek_w": 6.0,
    "disk_read_w": 3.5,
    "disk_request_j": 0.012,
}
TRUTH = Components(
    covers=("server", "disk"),
    idle_w=61.0,
    source="synthetic",
    terms=TRUE_TERMS,
    disk_rate_b_s=1e8,
)
STEPS = {
    "idle": {},
    "user-1": {"cpu_user_x": 1.0},
    "user-2": {"cpu_user_x": 2.0},
    "user-4": {"cpu_user_x": 4.0},
    "system-2": {"cpu_system_x": 2.0},
    "system-4": {"cpu_system_x": 4.0},
    "seek": {"disk_busy_x": 1.0, "disk_reads_hz": 120.0, "disk_read_b_s": 5e5},
    "seek-half": {"disk_busy_x": 0.5, "disk_reads_hz": 60.0, "disk_read_b_s": 2.5e5},
    "seek-deep": {"disk_busy_x": 1.0, "disk_reads_hz": 260.0, "disk_read_b_s": 1.1e6},
    "seek-large": {"disk_busy_x": 1.0, "disk_reads_hz": 80.0, "disk_read_b_s": 2e7},
    "sequential": {"disk_busy_x": 0.9, "disk_reads_hz": 90.0, "disk_read_b_s": 9e7},
    "both": {"cpu_user_x": 2.0, "disk_busy_x": 1.0, "disk_reads_hz": 120.0, "disk_read_b_s": 5e5},
}


def machine(truth=TRUTH, steps=STEPS, *, passes=3, noise_w=0.0, seed=1, clock_hz=np.nan):
    """A table of spans of a machine whose power is known; rates jitter as real ones do."""
    chance = np.random.default_rng(seed)
    rows = []
    for _ in range(passes):
        for workload, done in steps.items():
            rates = dict.fromkeys([*RATES, "cpu_busy_x"], 0.0) | {"cpu_clock_hz": clock_hz}
            rates |= {"cpu_shallow_idle_x": np.nan, "disk_standby_x": np.nan} | done
            for name in ("cpu_user_x", "cpu_system_x"):
                rates[name] += abs(chance.normal(0, 0.01))
            rates["disk_requests_hz"] = rates["disk_reads_hz"] + rates["disk_writes_hz"]
            power_w = truth.power_w(rates) + chance.normal(0, noise_w)
            rows.append({"workload": workload, "power_w": power_w, **rates})
    return pd.DataFrame(rows)


def parameters(result):
    return {"idle_w": result.idle_w, **result.terms}


def test_parameters_of_a_known_machine_come_back():
    result = fit(machine())
    assert parameters(result) == pytest.approx({"idle_w": 61.0, **TRUE_TERMS}, rel=1e-6)
    assert result.residual_w < 1e-6


def test_noisy_parameters_come_back_within_their_stated_error():
    """Of 95 % intervals, 90 % at least must hold the truth over many noisy machines."""
    truth = {"idle_w": 61.0, **TRUE_TERMS}
    inside = total = 0
    for seed in range(25):
        result = fit(machine(noise_w=0.5, seed=seed))
        found = parameters(result)
        for name, value in truth.items():
            total += 1
            inside += abs(found.get(name, 0.0) - value) <= result.errors.get(name, 0.0)
        assert 0.2 < result.residual_w < 0.8
    assert inside / total > 0.9


def test_exponent_of_the_clock_comes_back():
    truth = TRUTH.model_copy(update={"clock_exponent": 2.2, "clock_base_hz": 3e9})
    clocks = {"user-1": 1.2e9, "user-2": 2e9, "user-4": 3e9, "system-2": 1.5e9, "system-4": 2.5e9}
    steps = {name: done | {"cpu_clock_hz": clocks.get(name, 3e9)} for name, done in STEPS.items()}
    result = fit(machine(truth, steps, noise_w=0.1), resolution_w=0.1)
    assert result.clock_exponent == pytest.approx(2.2, abs=0.1)
    assert result.terms["cpu_user_w"] == pytest.approx(11.0, rel=0.02)
    without = fit(machine(TRUTH, steps, noise_w=0.1), resolution_w=0.1)
    assert without.clock_exponent == 0
    assert any("clock is left out" in remark for remark in without.remarks)


def test_machine_that_never_rests_is_refused():
    """Without rest user and system time add up to all cores, and idle power takes their share."""
    steps = {
        name: {"cpu_user_x": 2 - system, "cpu_system_x": system, "cpu_busy_x": 1.0}
        for name, system in {"idle": 0.0, "user": 0.1, "system": 0.6, "both": 0.3}.items()
    }
    with pytest.raises(FsgreenError, match="the cores never rested"):
        fit(machine(steps=steps))


def test_what_the_kernel_does_not_tell_or_nothing_exercised_is_left_out_in_words():
    remarks = " | ".join(fit(machine()).remarks)
    assert "cpu_shallow_idle_w is left out: it was not readable" in remarks
    assert "disk_write_w is left out: nothing exercised it" in remarks
    assert "the cores' clock is left out: it was not readable" in remarks


def test_collinear_terms_are_not_both_fitted():
    steps = {
        name: {"cpu_user_x": share, "cpu_system_x": share / 2}
        for name, share in {"idle": 0.0, "low": 1.0, "mid": 2.0, "high": 4.0}.items()
    }
    result = fit(machine(steps=steps))
    assert set(result.terms) == {"cpu_user_w"}
    assert result.terms["cpu_user_w"] == pytest.approx(11 + 7.5 / 2, rel=0.03)
    assert any(
        "cpu_system_w is left out: it cannot be told from cpu_user_w" in remark
        for remark in result.remarks
    )


def test_part_that_draws_nothing_is_said_to():
    truth = TRUTH.model_copy(
        update={"terms": {n: TRUTH.terms[n] for n in ("cpu_user_w", "cpu_system_w")}}
    )
    result = fit(machine(truth, noise_w=0.2))
    for name in ("disk_seek_w", "disk_request_j", "disk_read_w"):
        said = (f"{name} is left out: the fit gives", f"{name} may be 0")
        assert any(remark.startswith(said) for remark in result.remarks)
    assert result.terms["cpu_user_w"] == pytest.approx(11.0, abs=0.3)


def test_disk_that_only_sought_has_shown_no_rate_of_its_own():
    seeks = {name: done for name, done in STEPS.items() if name not in ("seek-large", "sequential")}
    result = fit(machine(TRUTH.model_copy(update={"disk_rate_b_s": None}), seeks))
    assert np.isnan(result.disk_rate_b_s)
    assert result.terms["disk_seek_w"] == pytest.approx(6.0, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_power_that_has_nothing_to_do_with_the_load_is_refused(seed):
    table = machine()
    levels_w = np.random.default_rng(seed).uniform(50, 150, len(STEPS))
    table["power_w"] = np.tile(levels_w, 3)
    with pytest.raises(FsgreenError, match="does not follow"):
        fit(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.assign(power_w=60.0), "does not change with the load"),
        (lambda table: table.assign(power_w=np.nan), "not a number above 0 W"),
        (lambda table: table.assign(power_w=-table["power_w"]), "not a number above 0 W"),
        (lambda table: table.assign(power_w=np.inf), "not a number above 0 W"),
        (lambda table: table[table["workload"].isin(["idle", "seek"])], "2 workloads are too few"),
        (lambda table: table.drop_duplicates("workload").head(4), "too few to fit"),
        (lambda table: table[:0], "0 workloads are too few"),
    ],
)
def test_nonsense_is_refused(change, message):
    with pytest.raises(FsgreenError, match=message):
        fit(change(machine()))


RATE = st.floats(1e-3, 1e9) | st.floats(1e-3, 2) | st.sampled_from([0.0, np.nan])
NAMES = (*RATES, "disk_requests_hz", "cpu_busy_x", "cpu_clock_hz")


@settings(max_examples=40 * FUZZ, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "workload": st.sampled_from("abcd"),
                "power_w": st.floats(1e-3, 1e4) | st.sampled_from([-1.0, 0.0, np.nan]),
            }
            | {name: RATE for name in NAMES}
        ),
        min_size=1,
        max_size=16,
    )
)
def test_any_table_gives_a_finite_fit_or_is_refused(rows):
    table = pd.DataFrame(rows)
    with suppress(FsgreenError):
        result = fit(table, resolution_w=0.1)
        assert all(0 <= value < np.inf for value in (result.idle_w, *result.terms.values()))
    with suppress(FsgreenError):
        assert np.isfinite(leave_one_out(table, resolution_w=0.1)["predicted_w"]).all()


def test_leaving_a_workload_out_shows_what_the_model_lacks():
    """A workload with a part of its own, say a graphics card, is predicted without it.

    So is one that alone tells a term: the only sequential reads, and the only deep queue.
    """
    table = machine(noise_w=0.05)
    table.loc[table["workload"] == "both", "power_w"] += 30.0
    errors = leave_one_out(table, resolution_w=0.1).set_index("workload")
    assert list(errors.index) == list(STEPS)
    assert errors.loc["both", "error_w"] == pytest.approx(-30.0, abs=0.5)
    assert errors.loc["both", "power_w"] == pytest.approx(
        table.loc[table["workload"] == "both", "power_w"].mean()
    )
    sound = leave_one_out(machine(noise_w=0.05), resolution_w=0.1)
    alone = sound["workload"].isin(["sequential", "seek-deep"])
    assert sound["error_percent"][~alone].abs().max() < 0.2
    assert sound["error_w"][alone].abs().min() > 1.0


def test_prediction_is_that_of_the_profile():
    table = machine()
    assert predict_w(TRUTH, table) == pytest.approx(table["power_w"].to_numpy())


def test_table_has_the_power_and_the_rates_between_the_edges_of_each_span():
    seconds = np.arange(0.0, 21.0)
    power = pd.DataFrame(
        {"time_s": seconds, "power_w": np.where(seconds <= 10, 60.0, 80.0), "quality": "ok"}
    )
    busy_s = np.maximum(0.0, seconds - 10) * 2
    host = pd.DataFrame(
        {
            "time_s": seconds,
            "cpu_user_s": busy_s,
            "cpu_system_s": 0.0,
            "cpu_iowait_s": 0.0,
            "cpu_steal_s": 0.0,
            "cpu_idle_s": seconds * 4 - busy_s,
            "cpu_cycles_count": busy_s * 3e9,
        }
    )
    table = activity_table([power], host, [("idle", 2.5, 9.5), ("user", 12.5, 18.0)])
    assert list(table["workload"]) == ["idle", "user"]
    assert list(table["power_w"]) == pytest.approx([60, 80])
    assert list(table["cpu_user_x"]) == pytest.approx([0, 2])
    assert list(table["cpu_busy_x"]) == pytest.approx([0, 0.5])
    assert table["cpu_clock_hz"][1] == pytest.approx(3e9)
    assert table["disk_busy_x"].isna().all()
    (both,) = activity_table([power, power], host, [("step", 9.5, 11.0)])["power_w"]
    assert both == pytest.approx(2 * (0.5 * 60 + 80) / 1.5)


@pytest.mark.parametrize("span", [(-1.0, 5.0), (15.0, 21.0), (4.5, 6.5)])
def test_span_whose_power_is_not_known_throughout_is_refused(span):
    seconds = np.arange(0.0, 21.0)
    power = pd.DataFrame({"time_s": seconds, "power_w": np.where(seconds == 6, np.nan, 60.0)})
    host = pd.DataFrame({name: seconds for name in ("time_s", *WORKING, *RESTING)})
    with pytest.raises(FsgreenError, match="not known throughout"):
        activity_table([power], host, [("user", *span)])
    assert activity_table([power], host, [("user", 7.0, 20.0)])["power_w"][0] == 60
