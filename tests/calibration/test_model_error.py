import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen import trial
from fsgreen.calibration import model_error
from fsgreen.errors import FsgreenError
from fsgreen.meters.modelled import Components

IDLE_W, USER_W, DISK_W = 60.0, 10.0, 5.0
LOADS = {
    "web": (1.5, 0.2),
    "mail": (0.5, 0.9),
    "db": (0.8, 0.5),
    "files": (0.2, 0.7),
    "copy": (1.2, 0.8),
}
METERS = {
    name: {
        "driver": "wattsup",
        "model": "Watts Up? PRO",
        "serial": name,
        "boundary": "wall",
        "covers": [name],
        "rate_hz": 1.0,
        "range_w": 1800.0,
        "resolution_w": 0.1,
        "gain_error": 0.015,
        "constant_error_w": 0.3,
        "source": "synthetic",
    }
    for name in ("system", "disk")
}


def write(folder, name, workload, order, extra_w=0.0):
    """A trial of 40 s, 30 of them measured, whose load wanders about its mean."""
    chance = np.random.default_rng(order)
    user, busy = LOADS[workload]
    seconds = np.arange(0.0, 41.0)
    user_x = user * chance.uniform(0.8, 1.2, 40)
    busy_x = busy * chance.uniform(0.8, 1.1, 40)
    system_w = np.append(IDLE_W, IDLE_W + USER_W * user_x + extra_w)
    disk_w = np.append(2.0, 2.0 + DISK_W * busy_x)
    power = pd.concat(
        pd.DataFrame(
            {
                "time_s": seconds,
                "meter": meter,
                "power_w": power_w,
                "energy_wh": 0.0,
                "quality": "ok",
            }
        )
        for meter, power_w in (("system", system_w), ("disk", disk_w))
    )
    summed = {"cpu_user_s": user_x, "cpu_idle_s": 4 - user_x, "disk_busy_s": busy_x}
    host = {column: np.append(0.0, np.cumsum(rate)) for column, rate in summed.items()}
    host |= {f"cpu_{state}_s": seconds * 0.0 for state in ("system", "iowait", "steal")}
    writer = trial.TrialWriter(folder, name)
    writer.write_table("power", power)
    writer.write_table("host", pd.DataFrame({"time_s": seconds, **host}))
    phases = [{"name": "measure", "start_s": 5.0, "end_s": 35.0}]
    cell = {"workload": workload}
    writer.keep(synthetic.record(trial=name, cell=cell, order=order, meters=METERS, phases=phases))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    made = tmp_path / "raw" / "c"
    made.mkdir(parents=True)
    return made


def test_workload_is_predicted_from_the_others_of_its_campaign(folder):
    for order, workload in enumerate([*LOADS, *LOADS]):
        write(folder, f"t{order}", workload, order)
    errors = model_error.model_error("c").set_index("workload")
    assert set(errors.index) == set(LOADS)
    assert set(errors["boundary"]) == {"wall"}
    assert errors["error_percent"].abs().max() < 0.1
    assert errors.loc["web", "power_w"] == pytest.approx(62 + 15 + 1, abs=2)


def test_workload_that_draws_what_the_model_does_not_know_shows(folder):
    for order, workload in enumerate([*LOADS, *LOADS]):
        write(folder, f"t{order}", workload, order, extra_w=20.0 * (workload == "db"))
    errors = model_error.model_error("c").set_index("workload")
    assert errors.loc["db", "error_w"] < -10


def test_profile_is_held_against_every_workload_of_a_campaign(folder):
    for order, workload in enumerate(LOADS):
        write(folder, f"t{order}", workload, order)
    system = Components(
        covers=("system",), idle_w=IDLE_W, source="test", terms={"cpu_user_w": USER_W}
    )
    disk = Components(covers=("disk",), idle_w=2.0, source="test", terms={"disk_seek_w": DISK_W})
    errors = model_error.profile_error([system, disk], "c")
    assert list(errors["workload"]) == list(LOADS)
    assert errors["error_w"].abs().max() < 1e-6
    dim = system.model_copy(update={"idle_w": IDLE_W - 6})
    assert list(model_error.profile_error([dim, disk], "c")["error_w"]) == pytest.approx([-6] * 5)
    with pytest.raises(FsgreenError, match="the meters of the campaign covered disk, system"):
        model_error.profile_error([system], "c")


def test_campaign_without_trials_or_with_one_workload_is_refused(folder):
    trial.write_json(folder / "plan.json", synthetic.make_plan().to_json())
    with pytest.raises(FsgreenError, match="no trial whose power"):
        model_error.model_error("c")
    write(folder, "t0", "web", 0)
    with pytest.raises(FsgreenError, match="two workloads or more"):
        model_error.model_error("c")
