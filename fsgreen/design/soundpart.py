"""The sound part of a study's file: it lets all checks run although the form has faults.

Faulty or missing values are left out, or replaced by harmless ones. Faults that follow from a
replacement are not reported.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fsgreen.design.studyfile import LEAST_TRIALS, StudyFile
from fsgreen.schema import Document, Fault, Place, faults_of

PHASES = {"idle_s": 1, "warmup_s": 2, "measure_s": 10, "settle_limit_s": 60}

STAND_INS: Mapping[str, Any] = {
    **dict.fromkeys(("study", "title", "question", "why"), "-"),
    **PHASES,
    "phases": PHASES,
    "seed": 0,
    "baseline": {},
    "owner": "workload",
    "blocks": LEAST_TRIALS,
    "image_mib": 4096,
    "count": 1,
    "length_s": 10,
    "ready": 1,
}
"""Replacements for the values of required keys."""

ENTRIES: Mapping[str, Any] = {
    "exclusions": {"what": "-", "why": "-"},
    "comparisons": {"factor": "workload"},
    "metrics": "throughput",
}
"""Replacements for entries of lists, so that later entries keep their places."""

ROUNDS = 4
"""Number of attempts, as a replacement may reveal another fault."""


@dataclass
class SoundPart:
    """The sound part of a study's file.

    `declared` is its content with replacements; None if too much is wrong. `faults` are those of
    its form, and `replaced` the places at which something was left out or replaced.
    """

    declared: StudyFile | None = None
    faults: list[Fault] = field(default_factory=list)
    replaced: list[Place] = field(default_factory=list)

    def own(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return the faults that do not follow from a replacement."""
        names = [f"'{place[-1]}'" for place in self.replaced if len(place) == 2]
        return [
            fault
            for fault in faults
            if not self.touches(fault.place) and not any(name in fault.what for name in names)
        ]

    def replace(self, faults: Iterable[Fault]) -> None:
        """Add faults of what is left out from now on."""
        self.faults += (added := list(faults))
        self.replaced += [fault.place for fault in added]

    def touches(self, place: Place) -> bool:
        """Return whether something was replaced at a place, or above or below it."""
        return any(
            place[: len(replaced)] == replaced or replaced[: len(place)] == place
            for replaced in self.replaced
        )


def sound_part(document: Document) -> SoundPart:
    """Return the sound part of a study's file, with the faults of its form."""
    part, values = SoundPart(), copy.deepcopy(document.values)
    for _ in range(ROUNDS):
        try:
            part.declared = TypeAdapter(StudyFile).validate_python(values)
            break
        except ValidationError as error:
            faults = faults_of(StudyFile, error, values)
        part.faults += [fault for fault in faults if not _follows(fault.place, part.replaced)]
        absent = [fault for fault in faults if not _has(values, fault.place)]
        for fault in sorted(faults, key=lambda fault: fault.meant is None):
            misspelt = fault in absent and _has(values, fault.place)
            if not misspelt:
                part.replaced.append(_mended(values, fault))
    return part


def _follows(place: Place, replaced: Iterable[Place]) -> bool:
    """Return whether a fault of the form at a place follows from an earlier replacement."""
    return any(place[: len(at)] == at or place == at[:1] for at in replaced)


def _mended(values: Any, fault: Fault) -> Place:
    """Replace the faulty value, or leave it out; return the place."""
    place = fault.place
    parent = _at(values, place[:-1]) if place else None
    if isinstance(parent, list):
        return _left_out(values, place)
    if not isinstance(parent, dict):
        return place
    key, entry = place[-1], parent.get(place[-1])
    if fault.meant is not None:  # a misspelt key: its value probably belongs to the one meant
        parent.pop(key, None)
        if fault.meant:
            parent.setdefault(fault.meant, entry)
    elif place[0] == "profiles" and len(place) == 2 and isinstance(entry, dict):
        entry["phases"].setdefault("measure_s", PHASES["measure_s"])
        entry.pop("windows", None)
        return (*place, "phases")
    elif "scale" in place[2:-1]:
        parent[key] = 1
    elif key in STAND_INS:
        parent[key] = copy.deepcopy(STAND_INS[str(key)])
        if key == "phases" and "windows" in parent:
            del parent[key]["measure_s"]
    elif key in parent or len(place) < 3:
        parent.pop(key, None)
    else:
        return _left_out(values, place[:-1])
    return place


def _left_out(values: Any, place: Place) -> Place:
    """Leave out the value at a place, or the whole list around it; return the place."""
    parent, key = _at(values, place[:-1]), place[-1]
    if not isinstance(parent, list):
        parent.pop(key, None)
    elif place[0] in ENTRIES and len(place) == 2:
        parent[int(key)] = copy.deepcopy(ENTRIES[str(place[0])])
    else:
        return _left_out(values, place[:-1])
    return place


def _at(values: Any, place: Place) -> Any:
    """Return the value at a place; None if there is none."""
    for step in place:
        try:
            values = values[step]
        except (LookupError, TypeError):
            return None
    return values


def _has(values: Any, place: Place) -> bool:
    """Return whether there is a value at a place."""
    parent = _at(values, place[:-1])
    return not place or (place[-1] in parent if isinstance(parent, dict) else parent is not None)
