"""A rule that cannot fire protects nobody: each is shown firing and not firing."""

import pandas as pd
import pytest
from traces import INFO

from fsgreen import audit
from fsgreen.campaign import checks
from fsgreen.trace.reduced import Held, Reduced
from fsgreen.trial import Phase

MEASURE = Phase("measure", 10.0, 20.0)


def power(power_w: float = 100.0, missing: tuple[int, ...] = ()) -> dict[str, Reduced]:
    times = [float(second) for second in range(5, 26) if second not in missing]
    readings = pd.DataFrame(
        {
            "time_s": times,
            "meter": "system",
            "power_w": power_w,
            "voltage_v": 230.0,
            "current_a": power_w / 230,
            "energy_wh": [power_w * time_s / 3600 for time_s in times],
            "quality": "ok",
        }
    )
    return {"system": Held(readings, INFO, [(MEASURE.start_s, MEASURE.end_s)])}


def host(user_s_per_s: float, steal_s_per_s: float = 0.0) -> pd.DataFrame:
    times = pd.Series([float(second) for second in range(5, 26)])
    return pd.DataFrame(
        {"time_s": times, "cpu_user_s": times * user_s_per_s, "cpu_steal_s": times * steal_s_per_s}
    )


def test_rule_9_fires_when_the_machine_changed_in_mid_trial() -> None:
    now = audit.audit()
    assert checks.check_audits(now, now).ok
    assert not checks.check_audits(now, {**now, "governor": "another"}).ok


@pytest.mark.parametrize(
    ("user", "steal", "ok"), [(0.25, 0.0, True), (0.5, 0.0, False), (0.2, 0.2, False)]
)
def test_rule_10_fires_when_others_took_the_processor(user: float, steal: float, ok: bool) -> None:
    found = checks.check_others(host(user, steal), MEASURE, 2.0, 2, 5.0)
    assert found.ok is ok


def test_rule_11_fires_when_power_did_not_come_down() -> None:
    assert checks.check_settled(1.0, 220.0, 225.0, True).ok
    assert not checks.check_settled(60.0, 240.0, 225.0, False).ok


def test_rule_13_fires_on_a_gap() -> None:
    sound = checks.check_power(power())
    assert all(check.ok for check in sound)
    gap = checks.check_power(power(missing=(14, 15, 16)))
    assert [check.rule for check in gap if not check.ok] == [13]


def test_rule_14_fires_on_zero_watts_under_load() -> None:
    dead = checks.check_power(power(0.0))
    assert [check.rule for check in dead if not check.ok] == [14]


def test_rule_16_fires_when_the_constant_error_weighs_too_much() -> None:
    assert checks.check_budget(power(100.0), 2.0).ok
    assert not checks.check_budget(power(10.0), 2.0).ok


def test_rule_20_fires_on_a_costly_harness_and_on_work_that_is_not_whole() -> None:
    assert checks.check_harness(1.0).ok
    assert not checks.check_harness(6.0).ok
    whole = {"work_ops": 10, "partial": False, "errors": {}}
    assert checks.check_workload(whole).ok
    assert not checks.check_workload({**whole, "partial": True}).ok
    assert not checks.check_workload({**whole, "work_ops": 0}).ok
    assert "EIO" in checks.check_workload({**whole, "errors": {"EIO": 1}}).detail
