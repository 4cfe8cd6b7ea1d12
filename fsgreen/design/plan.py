"""The plan of trials that is made from a study before data exist, and its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fsgreen.design import factors
from fsgreen.design.blocks import PlannedTrial
from fsgreen.design.cell import Cell
from fsgreen.design.factors import Factor, Level
from fsgreen.design.study import PlannedEvent, Profile, Windows
from fsgreen.errors import FsgreenError

_BRING_BACK = "bring back the plan that was measured, or plan anew under another --name"


@dataclass(frozen=True)
class Plan:
    """All trials of a study under a profile, in the order in which they are measured.

    `factors` and `workloads` are those of its cells that the study declares itself. `efficiency`
    names the boundary or the meters of the efficiency (`Study.efficiency`).
    """

    study: str
    profile: Profile
    baseline: Cell
    constants: Mapping[str, Any]
    bounds: Mapping[str, float]
    exclusions: tuple[Mapping[str, Any], ...]
    seed: int
    trials: tuple[PlannedTrial, ...]
    factors: tuple[Factor, ...] = ()
    workloads: Mapping[str, Any] = field(default_factory=dict)
    efficiency: Mapping[str, Any] | None = None

    @property
    def hash(self) -> str:
        """Return the SHA-256 of the plan's canonical text."""
        text = json.dumps(self._values(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the cells, each once, sorted by label."""
        return tuple(sorted({trial.cell for trial in self.trials}, key=lambda cell: cell.label))

    @property
    def readers_only(self) -> bool:
        """Return whether all cells have readers, which end once each has read its file."""
        return all("readers" in cell for cell in self.cells)

    def levels(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the level of every factor in a cell: its own, else the study's constant.

        None stands for a factor without a level.
        """
        return {
            known.name: cell.get(known.name, constant_level(known, self.constants))
            for known in (*factors.BUILT_IN, *self.factors)
        }

    def memory_limit_b(self, cell: Cell) -> int | None:
        """Return the memory limit of a cell's workload in bytes; None if there is no limit.

        `memory_mib` is the memory at scale 1. It shrinks with the scale, so that the ratio of data
        to memory is the same at every scale (rule 45).
        """
        memory_mib = self.levels(cell)["memory_mib"]
        if memory_mib is None:
            return None
        return int(memory_mib * 2**20 * self.profile.scale.get(cell["workload"], 1.0))

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values, with its hash."""
        return {"schema": 1, "hash": self.hash, **json.loads(json.dumps(self._values()))}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], where: object) -> Plan:
        """Return the plan that `to_json` wrote. It also declares the study's own factors.

        Raises FsgreenError if the value is no plan, or its hash does not fit; `where` is named.
        """
        try:
            own = tuple(
                Factor(**{**entry, "levels": tuple(entry["levels"])})
                for entry in value.get("factors", ())
            )
            factors.declare(own)
            profile = value["profile"]
            plan = cls(
                study=value["study"],
                profile=_profile(profile),
                baseline=Cell(**value["baseline"]),
                constants=value["constants"],
                bounds=value["bounds"],
                exclusions=tuple(value["exclusions"]),
                seed=value["seed"],
                trials=tuple(
                    PlannedTrial(**{**trial, "cell": Cell(**trial["cell"])})
                    for trial in value["trials"]
                ),
                factors=own,
                workloads=value.get("workloads", {}),
                efficiency=value.get("efficiency"),
            )
        except (KeyError, TypeError, FsgreenError) as error:
            raise FsgreenError(
                f"not a plan: {error!r}", where=where, next_step=_BRING_BACK
            ) from error
        if plan.hash != value.get("hash"):
            raise FsgreenError(
                "the plan was edited: its hash does not fit", where=where, next_step=_BRING_BACK
            )
        return plan

    def difference(self, other: Plan) -> list[str]:
        """Return what changed from the other plan to this one, in lines of text."""
        theirs, mine = (dict(_declared(plan)) for plan in (other, self))
        before, now = (dict.fromkeys(cell.label for cell in plan.cells) for plan in (other, self))
        lines = [
            *(
                f"{key}: {theirs.get(key, 'absent')} -> {mine.get(key, 'absent')}"
                for key in sorted(mine.keys() | theirs.keys())
                if mine.get(key) != theirs.get(key)
            ),
            *(f"cell {label}: gone" for label in before if label not in now),
            *(f"cell {label}: new" for label in now if label not in before),
        ]
        if not lines and self.trials != other.trials:
            lines.append("trials: other ones, or in another order")
        return lines

    def _values(self) -> dict[str, Any]:
        """Return the plan as plain values. Optional keys are absent if the study lacks them.

        So old plans keep their hash when a version adds keys.
        """
        profile = asdict(self.profile)
        for name in ("most_blocks", "bounds", "constants", "events", "windows"):
            if not profile[name]:
                del profile[name]
        return {
            "study": self.study,
            "profile": profile,
            "baseline": self.baseline.to_json(),
            "constants": self.constants,
            "bounds": self.bounds,
            "exclusions": self.exclusions,
            "seed": self.seed,
            "trials": [{**vars(trial), "cell": trial.cell.to_json()} for trial in self.trials],
            **({"factors": [asdict(own) for own in self.factors]} if self.factors else {}),
            **({"workloads": dict(self.workloads)} if self.workloads else {}),
            **({"efficiency": dict(self.efficiency)} if self.efficiency else {}),
        }


def _profile(value: Mapping[str, Any]) -> Profile:
    declared: dict[str, Any] = {
        "matrices": tuple(value["matrices"]),
        "events": tuple(PlannedEvent(**event) for event in value.get("events", ())),
    }
    if "windows" in value:
        declared["windows"] = Windows(**value["windows"])
    return Profile(**{**value, **declared})


def constant_level(known: Factor, constants: Mapping[str, Any]) -> Level | None:
    """Return the level of a factor for cells that have none: a constant, or its default."""
    return constants.get(known.name, known.default)


def _declared(plan: Plan) -> Iterator[tuple[str, Any]]:
    """Yield all of a plan except its trials, as pairs of a name and a value."""
    values = plan._values()
    del values["trials"]
    yield from _leaves(values)


def _leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{prefix}[{index}]")
    else:
        yield prefix, value
