"""What each meter says of a trial: computed once, when it ends, and kept in its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fsgreen.errors import FsgreenError, unknown
from fsgreen.trace import MeterEnergy, meter_energies

if TYPE_CHECKING:
    from fsgreen.trial.folder import Trial


def energies_of(trial: Trial) -> Mapping[str, MeterEnergy]:
    """Return what each meter says of a trial: as recorded, else computed from its trace."""
    return trial.record.energy or computed_energies(trial)


def computed_energies(trial: Trial) -> dict[str, MeterEnergy]:
    """Return what each meter says of a trial, computed from its trace, whatever is recorded."""
    record = trial.record
    measured = [phase.span_s for phase in trial.measured]
    file = trial.folder / "power.parquet"
    return meter_energies(file, dict(sorted(record.meters.items())), measured, record.idle_spans_s)


def efficiency_meters(
    declared: Mapping[str, object] | None, boundaries: Mapping[str, str], where: object = None
) -> tuple[str, ...]:
    """Return the meters whose energy the efficiency of a trial is over, by name in their order.

    `declared` is what the study says: `{boundary: wall}` or `{meters: [rail]}`; without it the
    meters have one boundary. `boundaries` has the boundary of each meter, and `where` is the study
    or campaign, for errors. Raises FsgreenError if no meter is meant, or meters of several
    boundaries are (rule 19).
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
            next_step="say in the study which one its efficiency divides by, such as "
            f"efficiency: {{boundary: {seen[0]}}}",
        )
    if not names:
        raise FsgreenError(
            f"no meter has the boundary {wanted.get('boundary')} that the efficiency divides by",
            where=where,
            next_step=f"the meters have {', '.join(sorted(set(boundaries.values())))}; "
            "name one of these, add a meter to the testbed file, or attach what it recorded "
            "(fsgreen attach)",
        )
    return tuple(names)
