"""One trial as one row, and as one row per second."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import trace
from fsgreen.design import Cell, Plan
from fsgreen.errors import FsgreenError
from fsgreen.reduce.latency import quantiles_s
from fsgreen.stats import SAME_POWER, classify_series
from fsgreen.trace import MeterTrace, reduce_power
from fsgreen.trial import Phase, Trial

CPU_STATES = ("user", "system", "iowait", "idle", "steal")
LATENCIES = {"latency_p50_s": 0.5, "latency_p95_s": 0.95, "latency_p99_s": 0.99}


@dataclass(frozen=True)
class Traces:
    """The tables of one trial, each read once.

    `cell` has the level of every factor. Power is reduced, by meter, over the phase `measure` and
    then each phase `idle`; its series has the seconds of `ops`.
    """

    trial: Trial
    cell: Mapping[str, Any]
    power: Mapping[str, MeterTrace]
    ops: pd.DataFrame
    host: pd.DataFrame
    latency: pd.DataFrame

    @classmethod
    def of(cls, trial: Trial, plan: Plan) -> Traces:
        """Read the tables of a trial of a plan."""
        ops, host, latency = (trial.table(name) for name in ("ops", "host", "latency"))
        infos = {
            name: trace.MeterInfo.from_dict(info)
            for name, info in sorted(trial.record["meters"].items())
        }
        phases = [trial.phase("measure"), *_idle_phases(trial)]
        spans = [(phase.start_s, phase.end_s) for phase in phases]
        ends_s = ops["time_s"].to_numpy(dtype=float)
        edges_s = [ends_s[0] - ops["duration_s"].iloc[0], *ends_s] if len(ops) else ()
        power = reduce_power(trial.folder / "power.parquet", infos, spans, edges_s)
        cell = plan.levels(Cell(**trial.record["cell"]))
        return cls(trial, cell, power, ops, host, latency)


def trial_row(traces: Traces) -> dict[str, Any]:
    """Return the row of one trial in `trials.csv`.

    Work and energy come from the phase `measure` of this trial alone (rule 20); power of several
    meters is added up, all of them having one boundary (rule 19).
    """
    trial, ops = traces.trial, traces.ops
    record, measure = trial.record, trial.phase("measure")
    work_ops = int(ops["work_ops"].sum())
    if work_ops != record["workload"]["work_ops"]:
        raise FsgreenError(
            f"the trial {trial.name} is not whole: its series holds {work_ops} operations, its "
            f"record {record['workload']['work_ops']}",
            where=trial.folder,
            next_step=f"move it out of the campaign: mv {trial.folder} ELSEWHERE",
        )
    duration_s = measure.duration_s
    energy = _energy(traces, measure)
    moved_b = float(ops["read_b"].sum() + ops["write_b"].sum())
    return {
        "campaign": record["campaign"],
        "trial": trial.name,
        "block": record["block"],
        "order": record["order"],
        **traces.cell,
        "boundary": record["boundary"],
        "duration_s": duration_s,
        "work_ops": work_ops,
        "throughput_ops_s": work_ops / duration_s,
        "bandwidth_b_s": moved_b / duration_s,
        **energy,
        "efficiency_ops_j": work_ops / energy["energy_j"],
        **_cpu(traces.host, measure),
        **dict(zip(LATENCIES, quantiles_s(traces.latency, list(LATENCIES.values())), strict=True)),
        "flush_duration_s": trial.phase("flush").duration_s,
        **_state(record),
        "steady": classify_series(_rate(ops)),
        "steady_power": classify_series(_power_w(traces), SAME_POWER),
        **_errors(traces),
        "harness_cpu_percent": record["harness"]["cpu_percent"],
        "settle_s": record["settle_s"],
    }


def series_of(traces: Traces) -> pd.DataFrame:
    """Return throughput and power of each second of the phase `measure`.

    `time_s` counts from the start of the phase; power is the sum of the meters and each of them:
    the mean of the second, which is what a meter of one reading a second gives at its end.
    """
    ops = traces.ops
    time_s = ops["time_s"].to_numpy(dtype=float)
    by_meter = {f"power_{meter}_w": power.series_w() for meter, power in traces.power.items()}
    return pd.DataFrame(
        {
            "trial": traces.trial.name,
            "time_s": time_s - traces.trial.phase("measure").start_s,
            "throughput_ops_s": (ops["work_ops"] / ops["duration_s"]).to_numpy(dtype=float),
            "power_w": np.sum(list(by_meter.values()), axis=0),
            **by_meter,
        }
    )


def _rate(ops: pd.DataFrame) -> np.ndarray:
    """Return operations per second of each whole second."""
    whole = ops[_whole(ops)]
    return (whole["work_ops"] / whole["duration_s"]).to_numpy(dtype=float)


def _power_w(traces: Traces) -> np.ndarray:
    """Return the power of all meters in each whole second that they cover."""
    power_w = np.sum([power.series_w() for power in traces.power.values()], axis=0)
    whole = power_w[_whole(traces.ops)]
    return whole[np.isfinite(whole)]


def _whole(ops: pd.DataFrame) -> np.ndarray:
    """Return which rows are seconds, and not the rest of one at the end of the phase."""
    return (ops["duration_s"] >= 0.5 * ops["duration_s"].median()).to_numpy()


def _energy(traces: Traces, measure: Phase) -> dict[str, float]:
    joules = {meter: power.energy_j() for meter, power in traces.power.items()}
    total_j, duration_s = sum(joules.values()), measure.duration_s
    idles = range(1, 1 + len(_idle_phases(traces.trial)))
    idle_w, before_w, after_w = (
        sum(_idle_power_w(power, nths) for power in traces.power.values())
        for nths in (idles, idles[:1], idles[1:])
    )
    parts = {name: joules.get(name, math.nan) for name in ("system", "disk")}
    return {
        "energy_j": total_j,
        **{f"energy_{name}_j": value for name, value in parts.items()},
        "power_w": total_j / duration_s,
        **{f"power_{name}_w": value / duration_s for name, value in parts.items()},
        "idle_power_w": idle_w,
        "idle_power_before_w": before_w,
        "idle_power_after_w": after_w,
        "energy_above_idle_j": total_j - idle_w * duration_s,
    }


def _idle_power_w(power: MeterTrace, idles: Iterable[int]) -> float:
    """Return mean power of one meter over the idle phases, as far as its trace reaches.

    A trace ends with the last whole reading, up to one interval before the trial does.
    """
    covered = [power.covered_energy_j(nth) for nth in idles]
    covered_s = sum(duration_s for _, duration_s in covered)
    return sum(joules for joules, _ in covered) / covered_s if covered_s else math.nan


def _idle_phases(trial: Trial) -> list[Phase]:
    """Return the phases before and after the work in which nothing was done."""
    return [phase for phase in trial.phases if phase.name == "idle"]


def _state(record: Mapping[str, Any]) -> dict[str, float]:
    """Return what was found of the cache and of dirty pages; older records do not say it."""
    flush = record.get("flush") or {}
    return {
        "resident_percent": 100 * record.get("resident_share", math.nan),
        "dirty_before_flush_b": flush.get("dirty_before_b", math.nan),
        "dirty_after_flush_b": flush.get("dirty_after_b", math.nan),
    }


def _cpu(host: pd.DataFrame, measure: Phase) -> dict[str, float]:
    edges = [measure.start_s, measure.end_s]
    used = {
        state: float(np.diff(np.interp(edges, host["time_s"], host[f"cpu_{state}_s"]))[0])
        for state in CPU_STATES
    }
    total = sum(used.values())
    return {
        f"cpu_{state}_percent": 100 * value / total if total else math.nan
        for state, value in used.items()
    }


def _errors(traces: Traces) -> dict[str, float]:
    total = sum(
        (power.error_budget() for power in traces.power.values()), trace.ErrorBudget(0, 0, 0, 0)
    )
    return {
        "error_gain_j": total.gain_j,
        "error_constant_j": total.constant_j,
        "error_quantisation_j": total.quantisation_j,
        "error_edges_j": total.edges_j,
    }
