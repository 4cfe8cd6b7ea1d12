"""What each meter says of a trial: computed once, when it ends, and kept in its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fsgreen.errors import FsgreenError, unknown
from fsgreen.trace import ErrorBudget, Flaw, MeterInfo
from fsgreen.trace.reduced import Reduced, reduce_power
from fsgreen.trial.record import Covered, MeterEnergy

if TYPE_CHECKING:
    from fsgreen.trial.folder import Trial
    from fsgreen.trial.record import TrialRecord


def energies_of(trial: Trial) -> Mapping[str, MeterEnergy]:
    """Return what each meter says of a trial: as recorded, else computed from its trace."""
    return trial.record.energy or computed_energies(trial)


def computed_energies(trial: Trial) -> dict[str, MeterEnergy]:
    """Return what each meter says of a trial, computed from its trace, whatever is recorded."""
    record = trial.record
    power = reduce_power(trial.folder / "power.parquet", record.meters, spans_of(record))
    idle_count = len(record.idle_phases())
    return {
        name: energy_of(record.meters[name], reduced, idle_count) for name, reduced in power.items()
    }


def spans_of(record: TrialRecord) -> list[tuple[float, float]]:
    """Return the spans that `energy_of` wants of a trace: `measure`, then each phase `idle`."""
    return [phase.span_s for phase in (record.phase("measure"), *record.idle_phases())]


def energy_of(info: MeterInfo, reduced: Reduced, idle_count: int) -> MeterEnergy:
    """Return what a meter says, its trace reduced over `measure` and then `idle_count` phases."""
    flaws = tuple(reduced.flaws())
    energy_j: float | None = None
    budget: ErrorBudget | None = None
    try:
        energy_j, budget = reduced.energy_j(), reduced.error_budget()
    except FsgreenError as error:
        flaws = flaws or (Flaw(14, "no-energy", error.what),)
    idle = tuple(_covered(reduced, nth) for nth in range(1, 1 + idle_count))
    return MeterEnergy(info.boundary, energy_j, budget, flaws, idle)


def _covered(reduced: Reduced, nth: int) -> Covered:
    try:
        return Covered(*reduced.covered_energy_j(nth))
    except FsgreenError:
        return Covered(0.0, 0.0)


def total_j(energies: Iterable[MeterEnergy]) -> float:
    """Return the energy of several meters together.

    Raises
    ------
    FsgreenError
        If their boundaries differ (rule 19), or one of them has no energy.
    """
    several = list(energies)
    boundaries = sorted({energy.boundary for energy in several})
    if len(boundaries) > 1:
        raise FsgreenError(
            f"energies of different boundaries are never added up: {boundaries} (rule 19)",
            next_step="name one in the study: efficiency: {boundary: " + boundaries[0] + "}",
        )
    total = 0.0
    for energy in several:
        if energy.energy_j is None:
            said = "; ".join(flaw.detail for flaw in energy.flaws)
            raise FsgreenError(f"a meter has no energy to tell: {said}")
        total += energy.energy_j
    return total


def efficiency_meters(
    declared: Mapping[str, object] | None, boundaries: Mapping[str, str], where: object = None
) -> tuple[str, ...]:
    """Return the meters whose energy the efficiency of a trial is over, by name in their order.

    Parameters
    ----------
    declared : mapping, optional
        What the study says: `{boundary: wall}` or `{meters: [rail]}`; without it the meters have
        one boundary.
    boundaries : mapping of str to str
        The boundary of each meter, by name.
    where : object, optional
        The study or campaign, for errors.

    Raises
    ------
    FsgreenError
        If no meter is meant, or meters of several boundaries are (rule 19).
    """
    names = list(boundaries)
    wanted = declared or {}
    if "meters" in wanted:
        named = wanted["meters"]
        assert isinstance(named, list | tuple)
        for name in named:
            if name not in names:
                raise unknown("meter", str(name), names, where=where)
        names = [name for name in names if name in named]
    if "boundary" in wanted:
        names = [name for name in names if boundaries[name] == wanted["boundary"]]
    seen = sorted({boundaries[name] for name in names})
    if len(seen) > 1:
        raise FsgreenError(
            f"the meters have different boundaries, which are never added up: {', '.join(seen)} "
            "(rule 19)",
            where=where,
            next_step="say in the study which one its efficiency is over, as in "
            f"efficiency: {{boundary: {seen[0]}}}",
        )
    if not names:
        raise FsgreenError(
            f"no meter has the boundary {wanted.get('boundary')} that the efficiency is over",
            where=where,
            next_step=f"the meters have {', '.join(sorted(set(boundaries.values())))}; "
            "name one of these, add a meter to the testbed file, or attach what it recorded "
            "(fsgreen attach)",
        )
    return tuple(names)
