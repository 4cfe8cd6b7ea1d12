"""The schema of a study's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from fsgreen import schema
from fsgreen.design.factors import Kind, Level, Owner
from fsgreen.schema import Count, Declared, Document, NotNegative, Positive, Whole

LEAST_TRIALS = 5
"""Least number of trials of a cell to conclude anything (rule 26; fast10, section 3.2)."""

BOUNDS: Mapping[str, float] = {
    "equivalence_percent": 5,
    "ci_half_width_percent": 5,
    "budget_percent": 2,
    "idle_band_percent": 5,
    "others_percent": 5,
    "minimum_trials": LEAST_TRIALS,
}
"""Default bounds of a study, from fast10, section 3.2, and from the rules."""

OF_PROFILES: Mapping[str, str] = {"scale": "full sizes", "measure_s": "full lengths of trials"}
"""What a profile may make smaller: its name in exclusions, and the words for it."""

Levels = dict[str, list[Level] | dict[str, Any]]


class BoundsEntry(Declared):
    """The bounds of a study. docs/statistics.md names the rule of each."""

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
    """Lengths of the phases of a trial. `measure_s` follows from the windows, if there are any."""

    idle_s: Positive
    warmup_s: NotNegative
    measure_s: Positive | None = None
    settle_limit_s: Positive


class WindowsEntry(Declared):
    """Windows in which cells take turns. `design.study.Windows` explains the keys."""

    count: Count
    length_s: Positive
    ready: Count


class EventEntry(Declared):
    """An event in each trial. `design.study.PlannedEvent` explains the keys."""

    phase: Literal["idle", "warmup", "measure", "flush"]
    at_s: NotNegative
    do: str


class EfficiencyEntry(Declared):
    """The meters of the efficiency, by their boundary or by their names."""

    boundary: Literal["wall", "dc-rail", "cpu", "modelled"] | None = None
    meters: list[str] | None = Field(default=None, min_length=1)


class ProfileEntry(Declared):
    """How much of a study is measured. `design.study.Profile` explains the keys."""

    matrices: tuple[str, ...] = Field(min_length=1)
    blocks: Count
    most_blocks: Count | None = None
    phases: PhasesEntry
    scale: dict[str, Positive] | Positive = 1
    image_mib: Count
    bounds: BoundsEntry | None = None
    constants: dict[str, Any] | None = None
    events: tuple[EventEntry, ...] = ()
    windows: WindowsEntry | None = None

    @model_validator(mode="after")
    def _one_length(self) -> ProfileEntry:
        if self.phases.measure_s is None and self.windows is None:
            raise ValueError("phases lacks measure_s")
        if self.phases.measure_s is not None and self.windows is not None:
            raise ValueError(
                "measure_s and windows are two lengths of one phase: leave measure_s out, "
                "it is count x length_s"
            )
        if self.events and self.windows is not None:
            raise ValueError("events happen within one phase, and windows are many: leave one out")
        return self


class WorkloadEntry(Declared):
    """A workload of the study's own: one of `command`, `driver` and `together`.

    `command` and `prepare` are programs with their arguments. Names in braces stand for levels of
    workload factors, and for `directory`, `seed`, `scale`, `warmup_s`, `measure_s` and
    `load_ops_s`. `reader` names the parser of the command's output. `size_mib` is the size of its
    files. `driver` is a `module:callable` or an entry point, with its `options`. `together` names
    workloads that run at the same time.
    """

    command: list[str] | None = Field(default=None, min_length=1)
    reader: str | None = None
    prepare: list[str] | None = Field(default=None, min_length=1)
    size_mib: NotNegative | None = None
    driver: str | None = None
    options: dict[str, Any] | None = None
    together: list[str] | None = Field(default=None, min_length=2)


class FactorEntry(Declared):
    """A factor of the study's own. `design.factors.Factor` explains the keys."""

    owner: Owner
    kind: Kind = "name"
    meaning: str | None = None
    levels: tuple[Level, ...] | None = None
    label: str | None = None
    spelling: str | None = None
    default: Level | None = None
    unset: str | None = None


class ComparisonEntry(Declared):
    """A factor whose levels are compared. `design.study.Comparison` explains the keys."""

    factor: str
    against: Level | None = None
    within: dict[str, Level] = Field(default_factory=dict)


class ExclusionEntry(Declared):
    """What is left out. `design.study.Exclusion` explains the keys.

    Without a factor, `what` must say it in words.
    """

    what: str | None = Field(default=None, min_length=1)
    why: str = Field(min_length=1)
    factor: str | None = None
    levels: tuple[Level, ...] = ()
    profiles: tuple[str, ...] = ()
    only_there: bool = False
    since: str = ""

    @property
    def in_words(self) -> str:
        """Return what is left out, in words."""
        if self.what is not None or self.factor is None:
            return self.what or ""
        thing = OF_PROFILES.get(self.factor, f"levels of {self.factor}")
        if self.levels:
            thing = f"{self.factor} {', '.join(map(str, self.levels))}"
        return f"{thing} in {', '.join(self.profiles)}" if self.profiles else thing


class MetricEntry(Declared):
    """The name of a metric, or a metric of the study's own, as `design.metrics.Metric`."""

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
    """A study. `design.study.Study` explains the keys."""

    study: str
    title: str
    question: str
    seed: Whole
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


def read(file: Path) -> Document:
    """Return a study's file with its lines. Its form is not checked yet."""
    return schema.read(
        file, "study", f"mend it, then fsgreen plan {file.stem}; docs/studies.md explains every key"
    )
