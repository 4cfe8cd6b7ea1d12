"""The energy of one phase by one meter, with its limits of error and flaws: computed once, kept."""

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
    """What one meter says of what was measured: of one interval, or of windows added up.

    A number that the trace does not tell is NaN, and `flaws` say why. `energy_j` is by trapezoid,
    of means the sum; `counter_energy_j` by the meter's own counter, if it has one. The idle powers
    are means over the idle phases before and after the work, and over both, as far as the trace
    covers them.
    """

    meter: str
    boundary: Boundary
    covers: tuple[str, ...]
    duration_s: Number
    energy_j: Number
    counter_energy_j: Number
    budget: ErrorBudget
    idle_power_w: Number
    idle_power_before_w: Number
    idle_power_after_w: Number
    flaws: tuple[Flaw, ...]

    @property
    def power_w(self) -> float:
        """Mean power."""
        return self.energy_j / self.duration_s

    @property
    def energy_above_idle_j(self) -> float:
        """Energy without that of an idle machine over the same time."""
        return self.energy_j - self.idle_power_w * self.duration_s


def meter_energies(
    file: Path, infos: Mapping[str, MeterInfo], measured: Sequence[Span], idles: Sequence[Span] = ()
) -> dict[str, MeterEnergy]:
    """Return what each meter in a `power.parquet` says of what was measured.

    Parameters
    ----------
    file : Path
        The table of power of one trial.
    infos : mapping of str to MeterInfo
        Its meters, of any boundaries.
    measured : sequence of (start_s, end_s)
        The phase `measure`, or its windows, on the host's monotonic clock.
    idles : sequence of (start_s, end_s)
        The idle phases; the first is before the work.

    Raises
    ------
    FsgreenError
        If the file cannot be read. What is wrong with a trace is in its `flaws`.
    """
    traces = reduce_power(file, infos, [*measured, *idles])
    return {
        name: meter_energy(name, infos[name], trace, measured, len(idles))
        for name, trace in traces.items()
    }


def meter_energy(
    meter: str, info: MeterInfo, trace: MeterTrace, measured: Sequence[Span], idle_count: int = 0
) -> MeterEnergy:
    """Return what one meter says of what was measured, by a trace that was reduced over it.

    The spans of `trace` are those of `measured`, and then so many idle phases. Energies of windows
    add up, and so do the limits of their errors, term by term: each window has edges of its own,
    and no error is taken to cancel that of another. A meter that was attached later, by its own
    clock, is reduced by `MeterTrace.of(readings, info, spans, clock=fit)`.
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
    """Return what a meter says of what it did not see: nothing, of its boundary."""
    nan, budget = math.nan, ErrorBudget(*[math.nan] * len(fields(ErrorBudget)))
    blank = (nan, nan, budget, nan, nan, nan)
    return MeterEnergy(meter, info.boundary, info.covers, duration_s, *blank, flaws=())


def sum_energies(energies: Sequence[MeterEnergy]) -> MeterEnergy:
    """Add what several meters of one boundary say of one phase; each flaw names its meter.

    Raises FsgreenError where boundaries or durations differ (rule 19), two meters cover the same
    part (it would count twice), or there is none.
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
    """Return the mean power over idle phases, as far as the trace reaches; NaN where it does not.

    A trace ends with the last whole reading, up to one interval before the trial does.
    """
    try:
        covered = [trace.covered_energy_j(nth) for nth in idles]
    except FsgreenError:
        return math.nan
    covered_s = sum(duration_s for _, duration_s in covered)
    return sum(joules for joules, _ in covered) / covered_s if covered_s else math.nan
