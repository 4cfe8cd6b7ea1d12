"""The energy of one phase by one meter, with its limits of error and its flaws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.trace.budget import ErrorBudget, Number
from fsgreen.trace.meter import Boundary, MeterInfo
from fsgreen.trace.metertrace import MeterTrace, reduce_power
from fsgreen.trace.table import Flaw, flawed

Span = tuple[float, float]


@dataclass(frozen=True)
class MeterEnergy:
    """The energy of the measured phase by one meter: of one interval, or the sum over windows.

    A number that the trace does not tell is NaN, and `flaws` say why.
    """

    meter: str
    boundary: Boundary
    covers: tuple[str, ...]
    """The name of the meter, its boundary, and the parts whose power it includes."""
    duration_s: Number
    """The duration of the measured phase."""
    energy_j: Number
    """The energy by the trapezoid rule; for means, their sum."""
    counter_energy_j: Number
    """The energy by the meter's own counter, if it has one."""
    budget: ErrorBudget
    """The limits of error of `energy_j`."""
    idle_power_w: Number
    idle_power_before_w: Number
    idle_power_after_w: Number
    """The mean power over all idle phases, over the one before the work, and over those after it,
    as far as the trace covers them."""
    flaws: tuple[Flaw, ...]
    """What makes the trace unfit for the phase."""

    @property
    def power_w(self) -> float:
        """The mean power in watts."""
        return self.energy_j / self.duration_s

    @property
    def energy_above_idle_j(self) -> float:
        """The energy minus that of an idle machine over the same time, in joules."""
        return self.energy_j - self.idle_power_w * self.duration_s


def meter_energies(
    file: Path, infos: Mapping[str, MeterInfo], measured: Sequence[Span], idles: Sequence[Span] = ()
) -> dict[str, MeterEnergy]:
    """Return the energy of the measured phase by each meter in a `power.parquet`.

    `file` is the table of power of one trial, and `infos` are its meters, with any boundaries.
    `measured` has the phase `measure`, or its windows, from start to end on the host's monotonic
    clock; `idles` the idle phases, of which the first is before the work. Raises FsgreenError if
    the file cannot be read. Faults of a trace are in `flaws` instead.
    """
    traces = reduce_power(file, infos, [*measured, *idles])
    return {
        name: meter_energy(name, infos[name], trace, measured, len(idles))
        for name, trace in traces.items()
    }


def meter_energy(
    meter: str, info: MeterInfo, trace: MeterTrace, measured: Sequence[Span], idle_count: int = 0
) -> MeterEnergy:
    """Return the energy of the measured phase by one meter, given its reduced trace.

    The spans of `trace` are those of `measured`, followed by `idle_count` idle phases. The energies
    of windows are added, and so are the limits of their errors, term by term: each window has its
    own edges, and errors are not assumed to cancel. The trace of a meter that was attached later,
    with its own clock, comes from `MeterTrace.of(readings, info, spans, clock=fit)`.
    """
    flaws = [flaw for nth, _ in enumerate(measured) for flaw in trace.flaws(nth)]
    said = unknown_energy(meter, info, sum(end_s - start_s for start_s, end_s in measured))
    places = range(len(measured))
    try:
        energies_j = [trace.energy_j(nth) for nth in places]
        said = replace(said, budget=reduce(add, [trace.error_budget(nth) for nth in places]))
        said = replace(said, energy_j=sum(energies_j))
        counters_j = [trace.counter_energy_j(nth) for nth in places]
        said = replace(said, counter_energy_j=sum(counters_j))
    except FsgreenError as error:
        flaws = flaws or [Flaw(14, "no-energy", error.what)]
    idles = range(len(measured), len(measured) + idle_count)
    return replace(
        said,
        idle_power_w=_idle_power_w(trace, idles),
        idle_power_before_w=_idle_power_w(trace, idles[:1]),
        idle_power_after_w=_idle_power_w(trace, idles[1:]),
        flaws=tuple(dict.fromkeys(flaws)),
    )


def unknown_energy(meter: str, info: MeterInfo, duration_s: float) -> MeterEnergy:
    """Return a `MeterEnergy` without numbers, for a phase that a meter did not record."""
    nan, budget = math.nan, ErrorBudget(*[math.nan] * len(fields(ErrorBudget)))
    blank = (nan, nan, budget, nan, nan, nan)
    return MeterEnergy(meter, info.boundary, info.covers, duration_s, *blank, flaws=())


def sum_energies(energies: Sequence[MeterEnergy]) -> MeterEnergy:
    """Return the sum of energies of one phase by several meters of one boundary.

    Each flaw names its meter. Raises FsgreenError if boundaries or durations differ (rule 19), if
    two meters cover the same part, which would count twice, or if there are no energies.
    """
    if not energies:
        raise flawed("there is no meter whose energy could be added")
    first = energies[0]
    if len({(each.boundary, each.duration_s) for each in energies}) > 1:
        kinds = sorted({f"{each.boundary} over {each.duration_s:g} s" for each in energies})
        raise flawed(f"energies of different boundaries are never added: {', '.join(kinds)}")
    covers = tuple(part for each in energies for part in each.covers)
    if len(covers) > len(set(covers)):
        raise flawed(f"two meters cover the same part: {sorted(covers)}")
    added = ["energy_j", "counter_energy_j"]
    added += [field.name for field in fields(MeterEnergy) if field.name.startswith("idle_")]
    return replace(
        first,
        meter="+".join(each.meter for each in energies),
        covers=covers,
        **{name: sum(getattr(each, name) for each in energies) for name in added},
        budget=sum((each.budget for each in energies), ErrorBudget(0.0, 0.0, 0.0, 0.0)),
        flaws=tuple(
            replace(flaw, detail=f"{each.meter}: {flaw.detail}")
            for each in energies
            for flaw in each.flaws
        ),
    )


def _idle_power_w(trace: MeterTrace, idles: Iterable[int]) -> float:
    """Return the mean power over idle phases, as far as the trace covers them; NaN if it does not.

    A trace ends with the last whole reading, up to one interval before the end of the trial.
    """
    try:
        covered = [trace.covered_energy_j(nth) for nth in idles]
    except FsgreenError:
        return math.nan
    covered_s = sum(duration_s for _, duration_s in covered)
    return sum(joules for joules, _ in covered) / covered_s if covered_s else math.nan
