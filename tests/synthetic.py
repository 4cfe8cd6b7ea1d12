"""Synthetic campaigns for tests of the analysis: never shipped, never a result."""

import json
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from fsgreen import design, paths, trial
from fsgreen.design.factors import BUILT_IN
from fsgreen.trial.files import SMALL

SPEED = {"ext2": 0.9, "ext3": 1.0, "ext4": 1.2, "xfs": 1.3, "btrfs": 0.7}
RATE = {"webserver": 9000.0, "fileserver": 1500.0, "varmail": 1200.0, "oltp": 2500.0}
METER = {
    "driver": "wattsup",
    "model": "emulated",
    "boundary": "modelled",
    "rate_hz": 1.0,
    "range_w": 1800.0,
    "resolution_w": 0.1,
    "gain_error": 0.015,
    "constant_error_w": 0.3,
    "source": "synthetic",
}
METERS = {
    "system": {**METER, "serial": "S", "covers": ["system"]},
    "disk": {**METER, "serial": "D", "covers": ["disk"]},
}
CONSTANTS = {"cache": "cold", "device": "initial", "scheduler": "none"}
BOUNDS = {"equivalence_percent": 5, "ci_half_width_percent": 5, "minimum_trials": 5}


def cells(workloads=("webserver",), file_systems=("ext3", "xfs"), options=("default",)):
    """Every combination, as fast as it goes."""
    names = ("workload", "file_system", "option")
    combinations = product(workloads, file_systems, options)
    return [design.Cell(**dict(zip(names, levels, strict=True))) for levels in combinations]


def make_plan(of=None, blocks=2, most_blocks=None, study="fast10", factors=()):
    """A plan of these cells in complete blocks, in their given order."""
    of = list(of or cells())
    profile = design.Profile(
        "test", ("test",), blocks, 1, 1, 10, 10, {"webserver": 0.1}, 2**30, most_blocks
    )
    return design.Plan(
        study=study,
        profile=profile,
        baseline=of[0],
        constants=dict(CONSTANTS),
        bounds={**BOUNDS, "budget_percent": 2, "idle_band_percent": 5},
        exclusions=({"what": "reiserfs", "why": "it left Linux in 6.13"},),
        seed=1,
        trials=tuple(
            design.PlannedTrial(f"b{block:02d}-{order:03d}-{cell.label}", block, order, block, cell)
            for block in range(1, profile.last_block + 1)
            for order, cell in enumerate(of, start=1)
        ),
        factors=factors,
    )


def record(**values):
    """A record with these values as JSON has them, and others that are no matter."""
    plain = {
        "schema": 2,
        "trial": "b01-001-webserver-ext4-default",
        "study": "fast10",
        "campaign": "c",
        "profile": "test",
        "plan_hash": "0",
        "cell": {"workload": "webserver"},
        "block": 1,
        "order": 1,
        "seed": 1,
        "clock": {"monotonic_s": 0.0, "unix_s": 1.8e9},
        "phases": [{"name": "measure", "start_s": 10.0, "end_s": 20.0}],
        "meters": METERS,
        "boundary": "modelled",
        "settle_s": 0.5,
        "checks": [{"rule": 13, "ok": True, "detail": "sound"}],
        "exit": "ok",
        "harness": {"cpu_s": 0.1, "cpu_percent": 0.7},
        "audit_sha256": "0",
    }
    return trial.TrialRecord.from_json(json.dumps({**plain, **values}), Path())


def edited(whole, **values):
    """The record with some values as JSON has them."""
    text = json.dumps({**whole.to_json(), **values})
    return trial.TrialRecord.from_json(text, Path())


def workload(planned, ops):
    """What the record of a trial says of its work."""
    return {"work_ops": 10 * ops, "duration_s": 10.0, "errors": {}, "partial": False}


OF_KIND = {
    "simdisk": {"model": "synthetic disk"},
    "vm": {
        "guest_kernel": "6.1",
        "guest_cores": 2,
        "guest_memory_mib": 1024,
        "qemu": "7.2",
        "compares": "times are synthetic",
    },
}
"""What a testbed of a kind says of itself beside."""


def write_raw(name, plan, *, power_w=250.0, ops=100, workload=workload, **begun):
    """Write whole trial folders in which power is constant and every second does `ops` work."""
    folder = begin(name, plan, **begun)
    for planned in plan.trials:
        work = workload(planned, ops)
        write_trial(folder, name, plan, planned, power_w=power_w, ops=ops, workload=work)
    return folder


def begin(name, plan, *, probes=None, kind="loop", testbed=()):
    """Write what a campaign has before its first trial."""
    folder = paths.raw(name)
    folder.mkdir(parents=True)
    trial.write_json(folder / "plan.json", plan.to_json())
    identity = {
        "campaign": name,
        "study": plan.study,
        "plan_hash": plan.hash,
        "started_unix_s": 1.8e9,
        "idle_power_w": 221.0,
        "idle_band_w": 232.0,
        "boundary": "modelled",
        "testbed": {"kind": kind, "in_memory": True} | OF_KIND.get(kind, {}) | dict(testbed),
        "meters": METERS,
        "audit": {"kernel": "Linux 6", "cpu": "synthetic", "cores_count": 2, "memory_b": 2**33},
    }
    trial.write_json(folder / "campaign.json", {"schema": 1, **identity})
    trial.write_json(folder / "confounds.json", probes or {"offset": [], "queue": []})
    return folder


@lru_cache(maxsize=256, typed=True)
def tables_of(power_w, ops, windows, latency_ns):
    """The bytes of a trial's tables by name: most trials of a campaign have the same."""
    rows_s = np.array([end_s - start_s for start_s, end_s in windows] or [1.0] * 10, dtype=float)
    ends_s = [float(end_s) for _, end_s in windows] or np.arange(11.0, 21.0)
    seconds = np.arange(0.0, 26.0)
    parts = {"system": np.asarray(power_w) - 10, "disk": 10.0}
    power = pd.concat(
        pd.DataFrame(
            {
                "time_s": seconds,
                "meter": meter,
                "power_w": part_w,
                "voltage_v": 230.0,
                "current_a": part_w / 230,
                "energy_wh": seconds * part_w / 3600,
                "quality": "ok",
            }
        )
        for meter, part_w in parts.items()
    )
    host = {f"cpu_{state}_s": seconds * 0.0 for state in ("user", "iowait", "steal")}
    host |= {"time_s": seconds, "cpu_system_s": seconds * 0.5, "cpu_idle_s": seconds * 1.5}
    host |= {"disk_read_b": seconds * 1024 * ops, "disk_write_b": seconds * 0.0}
    host |= {"disk_reads_count": seconds * ops, "disk_writes_count": seconds * 0.0}
    host |= {"disk_busy_s": seconds * 0.5}
    work = {
        "time_s": ends_s,
        "duration_s": rows_s,
        "work_ops": (rows_s * ops).astype(int),
        "read_b": (rows_s * 4096 * ops).astype(int),
        "write_b": 0,
    }
    latency = {"process": "p", "thread": [0, 1], "flowop": "read", "operation": "read"}
    edges = {"lower_ns": latency_ns[:2], "upper_ns": latency_ns[1:]}
    buckets = {**edges, "work_ops": [900, 100]}
    identity_columns = pd.DataFrame({**latency, **buckets})
    identity_columns["thread"] = identity_columns["thread"].astype(str)
    tables = {
        "power": power,
        "host": pd.DataFrame(host),
        "ops": pd.DataFrame(work),
        "latency": identity_columns,
    }
    return {name: table.to_parquet(index=False, **SMALL) for name, table in tables.items()}


def write_trial(
    folder: Path,
    name,
    plan,
    planned,
    *,
    power_w=250.0,
    ops=100,
    windows=(),
    latency_ns=(1000, 2000, 4000),
    **changes,
):
    """Write one trial: 2 s idle, 10 s measured, 1 s flush, 2 s idle; or these windows, 1 s flush.

    A window is (start_s, end_s), between 10 and 20 s. `latency_ns` are the edges of two buckets;
    `power_w` is a number, or a tuple with one for each of 26 seconds.
    """
    spans = (("prepare", 0, 4), ("settle", 4, 4), ("idle", 4, 6), ("warmup", 6, 10))
    for start_s, end_s in windows or [(10, 20)]:
        spans += (("measure", start_s, end_s), ("flush", end_s, end_s + 1))
    spans += (("idle", 21, 23),)
    writer = trial.TrialWriter(folder, planned.trial)
    for table, data in tables_of(power_w, ops, tuple(windows), tuple(latency_ns)).items():
        writer.write_parts(table, lambda file, data=data: file.write_bytes(data))
    machine = {"kernel": "Linux 6", "cpu": "synthetic", **changes.pop("machine", {})}
    sha = writer.write_json("audit.json", {"start": machine, "end": machine})
    whole = {
        "trial": planned.trial,
        "study": plan.study,
        "campaign": name,
        "profile": plan.profile.name,
        "plan_hash": plan.hash,
        "cell": planned.cell.to_json(),
        "block": planned.block,
        "order": planned.order,
        "seed": planned.seed,
        "phases": [{"name": n, "start_s": float(a), "end_s": float(b)} for n, a, b in spans],
        "workload": workload(planned, ops),
        "resident_share": 0.0,
        "flush": {"dirty_before_b": 2**20, "dirty_after_b": 0},
        "audit_sha256": sha,
    }
    return writer.keep(record(**{**whole, **changes}))


def trials_frame(of, blocks=5, seed=0, scatter=0.01, speed=None, boundary="modelled"):
    """A table like `trials.csv`: throughput is the cell's speed times a block and a noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for block in range(1, blocks + 1):
        drift = np.exp(rng.normal(0, scatter))
        for order, cell in enumerate(of, start=1):
            rate = RATE[cell["workload"]] * SPEED[cell["file_system"]] * drift
            rate *= (speed or {}).get(cell.label, 1.0) * np.exp(rng.normal(0, scatter))
            if "load_ops_s" in cell:
                rate = min(rate, cell["load_ops_s"])
            name = f"b{block:02d}-{order:03d}-{cell.label}"
            planned = design.PlannedTrial(name, block, order, block, cell)
            levels = {
                **{known.name: None for known in BUILT_IN},
                **CONSTANTS,
                **cell,
            }
            power_w = 220 + 50 * min(1, rate / 15000)
            rows.append(row(planned, levels, rate, power_w, boundary))
    return pd.DataFrame(rows)


def frame_of(of, speed, watts, boundary, scatter=0.005, blocks=5):
    """A table like `trials.csv` of any cells: 1,000 operations a second times a cell's `speed`."""
    rng = np.random.default_rng(1)
    rows = []
    for block in range(1, blocks + 1):
        for order, cell in enumerate(of, start=1):
            planned = design.PlannedTrial(f"b{block:02d}-{order:03d}", block, order, block, cell)
            rate = 1000 * speed(cell) * np.exp(rng.normal(0, scatter))
            levels = {**CONSTANTS, **cell, "load_ops_s": None}
            rows.append(row(planned, levels, rate, watts(cell), boundary))
    return pd.DataFrame(rows)


def row(planned, levels, rate, power_w, boundary):
    """A row of `trials.csv` with this rate in operations a second."""
    energy_j = 10 * power_w
    return {
        "campaign": "synthetic",
        "trial": planned.trial,
        "block": planned.block,
        "order": planned.order,
        "started_s": 1000.0 * planned.block + planned.order,
        **levels,
        "boundary": boundary,
        "duration_s": 10.0,
        "work_ops": round(10 * rate),
        "throughput_ops_s": round(10 * rate) / 10,
        "bandwidth_b_s": 4096 * rate,
        "read_b": 40960 * rate,
        "write_b": 0.0,
        "device_read_b": 40960 * rate,
        "device_write_b": 0.0,
        "energy_j": energy_j,
        "energy_system_j": 0.94 * energy_j,
        "energy_disk_j": 0.06 * energy_j,
        "power_w": power_w,
        "power_system_w": 0.94 * power_w,
        "power_disk_w": 0.06 * power_w,
        "idle_power_w": 221.0,
        "idle_power_before_w": 220.0,
        "idle_power_after_w": 222.0,
        "energy_above_idle_j": energy_j - 2210,
        "efficiency_ops_j": round(10 * rate) / energy_j,
        "cpu_user_percent": 12.0,
        "cpu_system_percent": 48.0,
        "cpu_iowait_percent": 25.0 if levels["file_system"] == "ext2" else 10.0,
        "cpu_idle_percent": 10.0,
        "cpu_steal_percent": 5.0,
        # Memory answers the web server, as its files fit; the rest is larger.
        "device_read_percent": 0.5 if str(levels["workload"]).startswith("web") else 80.0,
        "device_write_percent": 100.0,
        "device_request_s": 0.004,
        "device_busy_percent": 99.0,
        "block_b": 4096,
        "inode_b": 256 if levels["file_system"] == "xfs" else 128,
        "allocation_groups_count": np.nan,
        "group_blocks_count": np.nan,
        "latency_p50_s": 1e-4,
        "latency_p95_s": 1e-3,
        "latency_p99_s": 1e-2,
        "flush_duration_s": 0.2,
        "resident_percent": 0.0,
        "events_count": 0,
        "dirty_before_flush_b": 2**20,
        "dirty_after_flush_b": 0,
        "steady": "flat",
        "steady_power": "flat",
        "error_gain_j": 0.015 * energy_j,
        "error_constant_j": 6.0,
        "error_quantisation_j": 1.0,
        "error_edges_j": 5.0,
        "harness_cpu_percent": 0.7,
        "settle_s": 0.5,
    }
