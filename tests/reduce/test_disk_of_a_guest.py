"""How long the simulated disk of a guest worked: QEMU counts requests, but no time."""

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from synthetic import record
from traces import INFO

from fsgreen.meters.core.powertable import write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.reduce.state import device_served
from fsgreen.simdisk.ssdstates import STATES

BUDGET = {"gain_j": 0.0, "constant_j": 0.0, "quantisation_j": 0.0, "edges_j": 0.0, "clock_j": 0.0}
ENERGY = {
    "meter": "disk",
    "boundary": "modelled",
    "covers": ["disk"],
    "duration_s": 10.0,
    "energy_j": 96.0,
    "counter_energy_j": 96.0,
    "budget": BUDGET,
    "idle_power_w": 7.2,
    "idle_power_before_w": 7.4,
    "idle_power_after_w": 7.0,
    "flaws": [],
}
PARTS_J = dict.fromkeys(("rotate", "transfer", "standby", "spin-up", "unloaded"), 0.0) | {
    "idle": 28.0,
    "seek": 68.0,
}


def served(energy=ENERGY, parts_j=PARTS_J, power=Path("power.parquet"), of_record=(), **columns):
    """What a trial of ten seconds says of a disk that answered 3,000 requests."""
    counted = {"disk_reads_count": 1000, "disk_writes_count": 2000, **columns}
    time_s = np.array([10.0, 20.0])
    host = pd.DataFrame({"time_s": time_s, **{name: [0.0, of] for name, of in counted.items()}})
    names = {"measure": 10.0, "flush": 20.0}
    phases = [{"name": name, "start_s": at_s, "end_s": at_s + 10} for name, at_s in names.items()]
    of_disk = {"parts_j": {"disk": parts_j}, "timing": {"requests": 4000}}
    trial = record(phases=phases, energy={"disk": energy}, simulated=of_disk, **dict(of_record))
    return device_served(host, trial, {"read": 1.0, "write": 1.0}, power)


def test_a_disk_that_turns_worked_when_it_did_not_rest():
    """28 J at 7 W are 4 s of rest: claims on a disk that works were open in a guest."""
    of_disk = served()
    assert of_disk["device_busy_percent"] == pytest.approx(60)
    # QEMU counts requests before it merges them; the disk counts those of the warm-up, too.
    assert of_disk["device_request_s"] == pytest.approx(0.0015)


def test_a_kernel_that_counts_time_is_believed_first():
    assert served(disk_busy_s=9.0)["device_busy_percent"] == pytest.approx(90)


@pytest.mark.parametrize(
    ("energy", "parts_j"),
    [
        (ENERGY | {"idle_power_before_w": math.nan, "idle_power_after_w": math.nan}, PARTS_J),
        (ENERGY, {"idle": 28.0, "program": 68.0}),
        (ENERGY, PARTS_J | {"standby": 1.0}),
    ],
    ids=["no idle phase", "an SSD, whose parts work side by side", "a disk that slept"],
)
def test_it_is_not_told_where_rest_has_no_one_power(energy, parts_j):
    assert math.isnan(served(energy, parts_j)["device_busy_percent"])


@pytest.mark.parametrize(
    ("rate_hz", "left", "busy_percent"),
    [
        (10_000.0, STATES["initial"], 25.0),
        (10_000.0, STATES["steady"], 25.0),
        (1.0, STATES["initial"], math.nan),
        (10_000.0, "no state to restore on a simulated disk, which remembers no writes", math.nan),
    ],
    ids=["erased", "used", "a slow meter", "a disk that turns"],
)
def test_an_ssd_worked_while_it_drew_more_than_at_rest(tmp_path, rate_hz, left, busy_percent):
    """Claims on a drive that mostly waits for software were open in a guest."""
    time_s = 9 + np.arange(120_001) / 10_000
    power_w = np.where(np.arange(120_001) % 4 == 0, 2.6, 0.15)
    write_power(tmp_path / "power.parquet", {"disk": [Readings(time_s, power_w)]})
    at_rest = ENERGY | {"idle_power_before_w": 0.1504, "idle_power_after_w": 0.15}
    info = asdict(INFO) | {"rate_hz": rate_hz, "resolution_w": 0.001}
    of_record = {"meters": {"disk": info}, "mount": {"state": {"name": "initial", "left": left}}}
    of_disk = served(at_rest, {}, tmp_path / "power.parquet", of_record)
    assert of_disk["device_busy_percent"] == pytest.approx(busy_percent, rel=1e-3, nan_ok=True)
    assert math.isnan(of_disk["device_request_s"]), "what is written later is nobody's request"
