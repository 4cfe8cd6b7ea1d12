"""One trial as one row, as one row per second, and as one row per reader."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fsgreen.design import Cell, Plan
from fsgreen.design.columns import (
    CPU_SHARES,
    CPU_STATES,
    ERROR_TERMS,
    LATENCIES,
    METERS,
    OF_METER,
    WINDOWS,
)
from fsgreen.errors import FsgreenError
from fsgreen.reduce.latency import quantiles_s
from fsgreen.reduce.power_over_time import bins_s
from fsgreen.reduce.state import (
    counted,
    device_served,
    flash_served,
    made,
    state_of,
    windows_of,
    workload_cpu_s,
)
from fsgreen.stats import SAME_POWER, WHOLE, classify_series
from fsgreen.trace import MeterEnergy, Span, meter_energy, reduce_power, sum_energies
from fsgreen.trial import Trial, efficiency_meters


@dataclass(frozen=True)
class Traces:
    """The tables of one trial, each read once.

    `cell` has the level of every factor. `power_w` has the power of each meter of the trial in the
    seconds of `ops`, and `binned_w` in its bins (`bins_s`); `energy` what each meter says, those
    included that were attached later; `chosen` the meters that the efficiency is over.
    """

    trial: Trial
    cell: Mapping[str, Any]
    power_w: Mapping[str, np.ndarray]
    binned_w: Mapping[str, np.ndarray]
    energy: Mapping[str, MeterEnergy]
    chosen: tuple[str, ...]
    ops: pd.DataFrame
    host: pd.DataFrame
    latency: pd.DataFrame

    @classmethod
    def of(
        cls, trial: Trial, plan: Plan, attached: Mapping[str, MeterEnergy] | None = None
    ) -> Traces:
        """Read the tables of a trial of a plan, which says what the efficiency is over.

        `attached` is what meters say of it that recorded on their own, by name.
        """
        record = trial.record
        ops, host, latency = (trial.table(name) for name in ("ops", "host", "latency"))
        ends_s = ops["time_s"].to_numpy(dtype=float)
        infos = dict(sorted(record.meters.items()))
        measured, idles = [phase.span_s for phase in trial.measured], record.idle_spans_s
        if record.beside is not None:  # a row for each window, and pauses between them
            edges_s: Sequence[float] = np.ravel(measured).tolist()
            of_rows = slice(0, None, 2)
        else:
            edges_s = [ends_s[0] - ops["duration_s"].iloc[0], *ends_s] if len(ops) else ()
            of_rows = slice(None)
        file, bins = trial.folder / "power.parquet", bins_s(trial)
        power = reduce_power(file, infos, [*measured, *idles], edges_s, bins)
        energy = {
            name: record.energy.get(name)
            or meter_energy(name, infos[name], reduced, measured, len(idles))
            for name, reduced in power.items()
        } | dict(attached or {})
        chosen = _chosen(plan, infos, energy, trial.folder)
        series_w = {name: reduced.series_w()[of_rows] for name, reduced in power.items()}
        binned_w = {name: power[name].binned_w() for name in infos if name in bins}
        cell = plan.levels(Cell(**record.cell))
        return cls(trial, cell, series_w, binned_w, energy, chosen, ops, host, latency)

    @property
    def over(self) -> MeterEnergy:
        """Return what the meters say together that the efficiency is over."""
        return sum_energies([self.energy[name] for name in self.chosen])

    @property
    def total_w(self) -> np.ndarray:
        """Return the power of these meters in each second; NaN where they were attached later."""
        if not set(self.chosen) <= set(self.power_w):
            return np.full(len(self.ops), np.nan)
        power_w: np.ndarray = np.sum([self.power_w[name] for name in self.chosen], axis=0)
        return power_w


def _chosen(
    plan: Plan, own: Collection[str], energy: Mapping[str, MeterEnergy], where: Path
) -> tuple[str, ...]:
    """Return the meters that the efficiency is over.

    A meter that was attached later is one of them where the study names it, or where no other meter
    has the boundary that the study names: two that watch the same are not added up.
    """
    boundaries = {name: of_meter.boundary for name, of_meter in energy.items()}
    wanted = plan.efficiency or {}
    by_own = {boundaries[name] for name in own}
    if "meters" not in wanted and wanted.get("boundary") in (None, *by_own):
        boundaries = {name: boundaries[name] for name in own}
    return efficiency_meters(plan.efficiency, boundaries, where)


def trial_row(traces: Traces) -> dict[str, Any]:
    """Return the row of one trial in `trials.csv`.

    Work and energy come from the phase `measure` of this trial alone (rule 20). Energies of meters
    are added up that have the boundary which the efficiency is over (rule 19); each meter has
    columns of its own beside, and one for its boundary where there are several. `started_s` is in
    seconds since 1970.
    """
    trial, ops = traces.trial, traces.ops
    record, measured = trial.record, trial.measured
    work_ops = int(ops["work_ops"].sum())
    if work_ops != record.work.work_ops:
        raise FsgreenError(
            f"the trial {trial.name} is not whole: its series holds {work_ops} operations, its "
            f"record {record.work.work_ops}",
            where=trial.folder,
            next_step=f"move it out of the campaign: mv {trial.folder} ELSEWHERE",
        )
    duration_s, budget = record.measured_s, traces.over.budget
    energy, is_whole = _energy(traces), record.work.finished
    read_b, write_b = (float(ops[name].sum()) for name in ("read_b", "write_b"))
    return {
        "campaign": record.campaign,
        "trial": trial.name,
        "block": record.block,
        "order": record.order,
        "started_s": record.clock.unix_s,
        **traces.cell,
        "boundary": traces.over.boundary,
        "duration_s": duration_s,
        "work_ops": work_ops,
        "throughput_ops_s": work_ops / duration_s,
        "bandwidth_b_s": (read_b + write_b) / duration_s,
        "read_b": read_b,
        "write_b": write_b,
        **record.work.counts,
        **device_served(
            traces.host,
            record,
            {"read": read_b, "write": write_b},
            trial.folder / "power.parquet",
        ),
        **flash_served(traces.host, record),
        **energy,
        "efficiency_ops_j": work_ops / energy["energy_j"],
        **_cpu(traces.host, [phase.span_s for phase in measured]),
        **({} if record.beside is None else {WINDOWS: len(record.measured)}),
        **made(record),
        **dict(zip(LATENCIES, quantiles_s(traces.latency, list(LATENCIES.values())), strict=True)),
        "flush_duration_s": sum(phase.duration_s for phase in record.flushes),
        **state_of(record),
        "steady": WHOLE if is_whole else classify_series(_rate(ops)),
        "steady_power": WHOLE if is_whole else classify_series(_power_w(traces), SAME_POWER),
        **{f"error_{term}_j": getattr(budget, f"{term}_j") for term in ERROR_TERMS},
        "workload_cpu_s": workload_cpu_s(record),
        "harness_cpu_percent": record.harness.cpu_percent,
        "settle_s": record.settle_s,
    }


def series_of(traces: Traces) -> pd.DataFrame:
    """Return throughput and power of each second of the phase `measure`, or of each window.

    `time_s` counts from the start of the phase; power is the sum of the meters that the efficiency
    is over, and each meter of the trial: the mean of the second, which is what a meter of one
    reading a second gives at its end.
    """
    ops = traces.ops
    time_s = ops["time_s"].to_numpy(dtype=float)
    by_meter = {f"power_{meter}_w": power_w for meter, power_w in traces.power_w.items()}
    return pd.DataFrame(
        {
            "trial": traces.trial.name,
            "time_s": time_s - traces.trial.measured[0].start_s,
            "throughput_ops_s": (ops["work_ops"] / ops["duration_s"]).to_numpy(dtype=float),
            "power_w": traces.total_w,
            **by_meter,
            **windows_of(traces.trial.record, traces.host),
        }
    )


def finishes_of(trial: Trial) -> pd.DataFrame:
    """Return a row per reader of a trial, the first to finish first.

    `ended_s` counts from the start of the phase `measure`, as exact as the clock that the engine
    reads after each operation; it is empty for a reader that had finished in the warm-up. A trial
    whose cell has no number of readers has no row.
    """
    ended_s: list[float] = []
    if trial.record.cell.get("readers") is not None:
        threads = trial.record.work.threads
        before = [math.nan for kind in threads for at_s in kind.ended_s if at_s is None]
        during = [at_s for kind in threads for at_s in kind.ended_s if at_s is not None]
        ended_s = [*before, *sorted(during)]
    ranks = range(1, 1 + len(ended_s))
    return pd.DataFrame({"trial": trial.name, "rank": ranks, "ended_s": ended_s})


def _rate(ops: pd.DataFrame) -> np.ndarray:
    """Return operations per second of each whole second."""
    whole = ops[_whole(ops)]
    return (whole["work_ops"] / whole["duration_s"]).to_numpy(dtype=float)


def _power_w(traces: Traces) -> np.ndarray:
    """Return the power that the efficiency is over in each whole second that the meters cover."""
    whole = traces.total_w[_whole(traces.ops)]
    return whole[np.isfinite(whole)]


def _whole(ops: pd.DataFrame) -> np.ndarray:
    """Return which rows are seconds, and not the rest of one at the end of the phase."""
    return (ops["duration_s"] >= 0.5 * ops["duration_s"].median()).to_numpy()


def _energy(traces: Traces) -> dict[str, Any]:
    over, (energy_of, power_of, boundary_of) = traces.over, OF_METER
    parts = {name: math.nan for name in METERS}
    parts |= {name: energy.energy_j for name, energy in traces.energy.items()}
    boundaries = {name: energy.boundary for name, energy in traces.energy.items()}
    several = boundaries if len(set(boundaries.values())) > 1 else {}
    return {
        "energy_j": over.energy_j,
        **{energy_of.format(name): value for name, value in parts.items()},
        "power_w": over.power_w,
        **{power_of.format(name): value / over.duration_s for name, value in parts.items()},
        "idle_power_w": over.idle_power_w,
        "idle_power_before_w": over.idle_power_before_w,
        "idle_power_after_w": over.idle_power_after_w,
        "energy_above_idle_j": over.energy_above_idle_j,
        **{boundary_of.format(name): boundary for name, boundary in several.items()},
    }


def _cpu(host: pd.DataFrame, spans_s: Sequence[Span]) -> dict[str, float]:
    used = {state: counted(host, f"cpu_{state}_s", spans_s) for state in CPU_STATES}
    total = sum(used.values())
    shares = (100 * value / total if total else math.nan for value in used.values())
    return dict(zip(CPU_SHARES, shares, strict=True))
