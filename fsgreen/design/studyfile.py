"""The schema of a study's file, and what it must be beyond its form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from fsgreen import schema, units
from fsgreen.design import factors, metrics
from fsgreen.design.cell import Cell, cells_of
from fsgreen.design.factors import Kind, Level, Owner
from fsgreen.errors import FsgreenError, unknown
from fsgreen.schema import Count, Declared, Document, Fault, NotNegative, Positive

LEAST_TRIALS = 5
"""Trials of a cell below which nothing may be concluded (rule 26; fast10, section 3.2)."""

BOUNDS: Mapping[str, float] = {
    "equivalence_percent": 5,
    "ci_half_width_percent": 5,
    "budget_percent": 2,
    "idle_band_percent": 5,
    "others_percent": 5,
    "minimum_trials": LEAST_TRIALS,
}
"""Bounds of a study that names none: those of fast10, section 3.2, and of the rules."""

OF_PROFILES: Mapping[str, str] = {"scale": "full sizes", "measure_s": "full lengths of trials"}
"""What a profile may make smaller, as exclusions name it, and in words."""

Levels = dict[str, list[Level] | dict[str, Any]]


class BoundsEntry(Declared):
    """Bounds; docs/statistics.md says which rule each belongs to."""

    equivalence_percent: Positive | None = None
    ci_half_width_percent: Positive | None = None
    budget_percent: Positive | None = None
    idle_band_percent: Positive | None = None
    others_percent: Positive | None = None
    minimum_trials: Count | None = None
    speed_percent: Positive | None = None

    def set(self) -> dict[str, float]:
        """Return the bounds that are given."""
        return self.model_dump(exclude_none=True)


class PhasesEntry(Declared):
    """Lengths of the phases of a trial."""

    idle_s: Positive
    warmup_s: NotNegative
    measure_s: Positive
    settle_limit_s: Positive


class EventEntry(Declared):
    """Something that is done in the course of each trial."""

    phase: Literal["idle", "warmup", "measure", "flush"]
    at_s: NotNegative
    do: str


class EfficiencyEntry(Declared):
    """The meters that the efficiency is over: those of a boundary, or by name."""

    boundary: Literal["wall", "dc-rail", "cpu", "modelled"] | None = None
    meters: list[str] | None = Field(default=None, min_length=1)


class ProfileEntry(Declared):
    """How much of a study is run."""

    matrices: tuple[str, ...] = Field(min_length=1)
    blocks: Count
    most_blocks: Count | None = None
    phases: PhasesEntry
    scale: dict[str, Positive] | Positive = 1
    image_mib: Count
    bounds: BoundsEntry | None = None
    events: tuple[EventEntry, ...] = ()


class WorkloadEntry(Declared):
    """A workload of the study's own: one of `command`, `driver` and `together`.

    `command` and `prepare` are programs with their arguments, in which names in braces stand for
    levels of workload factors and for `directory`, `seed`, `scale`, `warmup_s`, `measure_s` and
    `load_ops_s`; `reader` understands what the command writes, and `size_mib` is the size of its
    files. `driver` is a `module:callable` or an entry point, with its `options`. `together` names
    workloads that run at once.
    """

    command: list[str] | None = Field(default=None, min_length=1)
    reader: str | None = None
    prepare: list[str] | None = Field(default=None, min_length=1)
    size_mib: NotNegative | None = None
    driver: str | None = None
    options: dict[str, Any] | None = None
    together: list[str] | None = Field(default=None, min_length=2)


class FactorEntry(Declared):
    """A factor of the study's own; `design.factors.Factor` says what the keys mean."""

    owner: Owner
    kind: Kind = "name"
    meaning: str | None = None
    levels: tuple[Level, ...] | None = None
    label: str | None = None
    spelling: str | None = None
    default: Level | None = None
    unset: str | None = None


class ComparisonEntry(Declared):
    """A factor whose levels are compared."""

    factor: str
    against: Level | None = None
    within: dict[str, Level] = Field(default_factory=dict)


class ExclusionEntry(Declared):
    """What is left out; in words, too, where it is not a factor's levels or all of a factor."""

    what: str | None = None
    why: str
    factor: str | None = None
    levels: tuple[Level, ...] = ()
    profiles: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """Return what is left out as people say it."""
        if self.what is not None or self.factor is None:
            return self.what or ""
        thing = OF_PROFILES.get(self.factor, f"levels of {self.factor}")
        if self.levels:
            thing = f"{self.factor} {', '.join(map(str, self.levels))}"
        return f"{thing} in {', '.join(self.profiles)}" if self.profiles else thing


class MetricEntry(Declared):
    """A metric by its name, or one of the study's own, with the keys of `design.metrics.Metric`."""

    name: str
    above: str = ""
    below: str = ""
    unit: str = ""
    higher_is_better: bool = True
    modelled_from: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


class StudyFile(Declared):
    """A study."""

    study: str
    title: str
    question: str
    seed: int
    baseline: dict[str, Level]
    constants: dict[str, Any] = Field(default_factory=dict)
    bounds: BoundsEntry = BoundsEntry()
    exclusions: tuple[ExclusionEntry, ...] = ()
    factors: dict[str, FactorEntry] = Field(default_factory=dict)
    workloads: dict[str, WorkloadEntry] = Field(default_factory=dict)
    metrics: tuple[MetricEntry, ...] = (
        MetricEntry(name="throughput"),
        MetricEntry(name="efficiency"),
    )
    comparisons: tuple[ComparisonEntry, ...] = ()
    treatments: tuple[str, ...] = ()
    efficiency: EfficiencyEntry | None = None
    matrices: dict[str, Levels] = Field(min_length=1)
    profiles: dict[str, ProfileEntry] = Field(min_length=1)


def read(file: Path) -> tuple[Document, StudyFile]:
    """Return what a study's file says, its form checked."""
    document = schema.read(file, "study", "docs/studies.md explains every key; fsgreen plan checks")
    return document, document.as_(StudyFile)


def matrices_of(declared: StudyFile) -> tuple[dict[str, tuple[Cell, ...]], list[Fault]]:
    """Return the cells of each matrix, and what is wrong with their levels."""
    matrices: dict[str, tuple[Cell, ...]] = {}
    faults: list[Fault] = []
    for name, levels in declared.matrices.items():
        wrong = list(_wrong_levels(("matrices", name), levels))
        try:
            matrices[name] = () if wrong else tuple(cells_of(levels))
        except FsgreenError as error:
            wrong = [Fault(("matrices", name), error.what)]
            matrices[name] = ()
        faults += wrong
    return matrices, faults


def semantic_faults(declared: StudyFile, matrices: Mapping[str, tuple[Cell, ...]]) -> list[Fault]:
    """Return what is wrong with a study beyond its form: names, and numbers beside each other."""
    levels = {name: [level] for name, level in declared.baseline.items()}
    faults = list(_wrong_levels(("baseline",), levels))
    held = {name: [declared.constants[name]] for name in factors.names(declared.constants)}
    faults += _wrong_levels(("constants",), held, free=("scheduler",))
    for nth, comparison in enumerate(declared.comparisons):
        of = {name: [level] for name, level in comparison.within.items()}
        of[comparison.factor] = [] if comparison.against is None else [comparison.against]
        faults += _wrong_levels(("comparisons", nth), of)
    faults += _wrong_workloads(declared.workloads)
    for nth, exclusion in enumerate(declared.exclusions):
        faults += _wrong_exclusion(("exclusions", nth), exclusion, declared.profiles)
    faults += _wrong_metrics(declared)
    faults += _wrong_minimum(("bounds",), declared.bounds)
    for name, profile in declared.profiles.items():
        faults += _wrong_profile(("profiles", name), profile, matrices)
    return faults


def _wrong_levels(
    place: schema.Place, levels: Mapping[str, Any], free: tuple[str, ...] = ()
) -> Iterator[Fault]:
    for name, of_factor in levels.items():
        if name == "factorial" or name in free:
            continue
        try:
            known = factors.get(name)
        except FsgreenError as error:
            yield Fault((*place, name), error.what)
            continue
        if isinstance(of_factor, Mapping):
            yield Fault((*place, name), f"{name} takes a list of levels")
            continue
        for level in of_factor:
            if wrong := known.check(level):
                yield Fault((*place, name), wrong)


OF_COMMANDS = ("reader", "prepare", "size_mib")
"""Keys that only a workload which is a command has."""


def _wrong_workloads(workloads: Mapping[str, WorkloadEntry]) -> Iterator[Fault]:
    """Yield workloads that are several kinds of one, or none."""
    for name, entry in workloads.items():
        given = entry.model_dump(exclude_none=True)
        kinds = [kind for kind in ("command", "driver", "together") if kind in given]
        if len(kinds) != 1:
            what = f"the workload {name} takes one of command, driver and together"
            yield Fault(("workloads", name), what)
            continue
        misplaced = {"driver": ("options",), "command": OF_COMMANDS, "together": ()}
        for key in given.keys() - {*kinds, *misplaced[kinds[0]]}:
            yield Fault(("workloads", name, key), f"{key} is not of a workload with {kinds[0]}")


def _wrong_metrics(declared: StudyFile) -> Iterator[Fault]:
    for nth, metric in enumerate(declared.metrics):
        place: schema.Place = ("metrics", nth)
        if not metric.above:
            if metric.name not in metrics.names():
                yield Fault(place, unknown("metric", metric.name, metrics.names()).what)
        elif units.unit_of(f"_{metric.unit}") is None:
            known = [suffix.removeprefix("_") for suffix in units.SUFFIXES]
            yield Fault((*place, "unit"), unknown("unit", metric.unit, known).what)


def _wrong_exclusion(
    place: schema.Place, entry: ExclusionEntry, profiles: Mapping[str, Any]
) -> Iterator[Fault]:
    for nth, name in enumerate(entry.profiles):
        if name not in profiles:
            yield Fault((*place, "profiles", nth), unknown("profile", name, profiles).what)
    if entry.factor is None:
        if not entry.what:
            yield Fault(place, "an exclusion takes `what`, a factor, or both")
        if entry.levels:
            yield Fault((*place, "levels"), "levels are those of a factor, and none is named")
    elif entry.factor in OF_PROFILES:
        if entry.levels:
            yield Fault((*place, "levels"), f"{entry.factor} has no levels that are left out")
    else:
        yield from _wrong_levels(place, {entry.factor: entry.levels})


def _wrong_minimum(place: schema.Place, bounds: BoundsEntry | None) -> Iterator[Fault]:
    """Yield bounds by which few trials conclude something."""
    least = (
        LEAST_TRIALS if bounds is None or bounds.minimum_trials is None else (bounds.minimum_trials)
    )
    if least < LEAST_TRIALS:
        yield Fault(
            (*place, "minimum_trials"),
            f"minimum_trials is {least}, and fewer than {LEAST_TRIALS} trials conclude nothing "
            f"(rule 26): minimum_trials: {LEAST_TRIALS}; a profile may have fewer blocks",
        )


def _wrong_profile(
    place: schema.Place, profile: ProfileEntry, matrices: Mapping[str, tuple[Cell, ...]]
) -> Iterator[Fault]:
    yield from _wrong_minimum((*place, "bounds"), profile.bounds)
    most = profile.blocks if profile.most_blocks is None else profile.most_blocks
    if profile.blocks > most:
        yield Fault(
            (*place, "blocks"),
            f"{profile.blocks} blocks at least and {most} at most: 1 <= blocks <= most_blocks",
        )
    workloads: set[str] = set()
    for nth, name in enumerate(profile.matrices):
        if name in matrices:
            workloads |= {cell["workload"] for cell in matrices[name] if "workload" in cell}
        else:
            yield Fault((*place, "matrices", nth), unknown("matrix", name, matrices).what)
    if isinstance(profile.scale, Mapping):
        for name in sorted(workloads - profile.scale.keys()):
            yield Fault((*place, "scale"), f"the workload {name} has no scale")
