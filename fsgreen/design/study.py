"""A declared study: factors, levels, constants, exclusions, bounds and the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fsgreen.design.cell import Cell
from fsgreen.design.factors import Factor, Level


@dataclass(frozen=True)
class PlannedEvent:
    """An event that happens in each trial, `at_s` seconds after the start of a phase.

    `do` is the name of an event that the device, the stack or the workload offers, for example
    `cable_out`.
    """

    phase: str
    at_s: float
    do: str


@dataclass(frozen=True)
class Windows:
    """Short windows in which cells take turns, in place of one interval each (rule 47).

    A trial has `count` windows of `length_s` seconds. At most `ready` trials are kept ready side by
    side.
    """

    count: int
    length_s: float
    ready: int


@dataclass(frozen=True)
class Profile:
    """How much of a study is measured, and for how long."""

    name: str
    """The name of the profile."""
    matrices: tuple[str, ...]
    """The names of the matrices whose cells are measured."""
    blocks: int
    """Number of passes over all cells."""
    idle_s: float
    warmup_s: float
    measure_s: float
    settle_limit_s: float
    """Lengths of the phases. `settle_limit_s` is the longest wait for idle power. If a trial has
    windows, `measure_s` is the length of all of them."""
    scale: Mapping[str, float]
    """Factor on the published number of files; for oltp, on the size of a file."""
    image_b: int
    """Size of the file system under test in bytes."""
    most_blocks: int | None = None
    """Largest number of passes. Until then, cells whose interval is too wide get more blocks
    (`design.sequential`). Without it, all cells end after `blocks`."""
    bounds: Mapping[str, float] | None = None
    """Bounds that add to those of the study, or replace them."""
    constants: Mapping[str, Any] | None = None
    """Constants that add to those of the study, or replace them."""
    events: tuple[PlannedEvent, ...] = ()
    """Events of the device, the stack or the workload in each trial."""
    windows: Windows | None = None
    """The windows in which cells take turns. Without them, one trial runs after another."""

    @property
    def interval_s(self) -> float:
        """Return the length of one interval that a meter measures: the phase, or one window."""
        return self.measure_s if self.windows is None else self.windows.length_s

    @property
    def sequential(self) -> bool:
        """Return whether a cell may end when its interval is narrow enough (rule 27)."""
        return self.most_blocks is not None

    @property
    def last_block(self) -> int:
        """Return the number of the last possible block."""
        return self.blocks if self.most_blocks is None else self.most_blocks

    @property
    def least_trial_s(self) -> float:
        """Return the duration of a trial without making files and waiting for idle power.

        Trials that are ready side by side share their idle phases.
        """
        sharing = 1 if self.windows is None else self.windows.ready
        return 2 * self.idle_s / sharing + self.warmup_s + self.measure_s


@dataclass(frozen=True)
class Comparison:
    """A comparison of cells that differ only in one factor.

    All other levels of the factor are compared with the level `against`; without it, all with each
    other. `within` has the levels of other factors that both cells must have.
    """

    factor: str
    against: Level | None = None
    within: Cell = field(default_factory=Cell)

    @property
    def family(self) -> str:
        """Return the name of its family in tables (rule 38)."""
        return self.factor.replace("_", " ")


@dataclass(frozen=True)
class Exclusion:
    """What a study leaves out, and why (rules 1 and 6)."""

    what: str
    why: str
    """What is left out, and the reason. Exclusions with the same words are one in the plan."""
    factor: str | None = None
    """The factor of which levels are left out. `scale` and `measure_s` stand for those of profiles,
    which are smaller. Without a factor, no rule can tell what the exclusion covers."""
    levels: tuple[Level, ...] = ()
    """The levels that are left out. Empty means all levels that the plan does not have."""
    profiles: tuple[str, ...] = ()
    """The profiles that it is about. Empty means all."""
    only_there: bool = False
    """Whether it is only in the plans of its profiles. So a new profile does not change the plans
    of the others."""
    since: str = ""
    """What became of the reason after plans were made with it. It is in no plan, so campaigns keep
    what was declared before they were measured."""


@dataclass(frozen=True)
class Study:
    """A declared experiment, as its file states it."""

    name: str
    title: str
    question: str
    """The name of its file, and title and question of its report."""
    seed: int
    """The seed of the order of trials and of the contents of files."""
    baseline: Cell
    """The cell that every block has (rule 4)."""
    constants: Mapping[str, Any]
    """What is the same in all cells: levels of factors, and notes in words."""
    bounds: Mapping[str, float]
    """The numbers of `studyfile.BOUNDS`, some of them replaced."""
    exclusions: tuple[Exclusion, ...]
    """What is left out, and why."""
    matrices: Mapping[str, tuple[Cell, ...]]
    profiles: Mapping[str, Profile]
    """Cells by name of the matrix, and profiles by name."""
    factors: tuple[Factor, ...] = ()
    """Factors that the study declares itself."""
    workloads: Mapping[str, Any] = field(default_factory=dict)
    """Workloads that the study declares itself, as in its file."""
    metrics: tuple[str, ...] = ("throughput", "efficiency")
    """Names of the metrics in which cells are compared."""
    comparisons: tuple[Comparison, ...] = ()
    """What is compared. Empty means all factors that the plan varies (`analysis.comparisons`)."""
    treatments: tuple[str, ...] = ()
    """Factors in which compared cells may differ. These cells share the model of their scatter.
    Empty means file system, option and the factors of comparisons."""
    efficiency: Mapping[str, Any] | None = None
    """The meters of the efficiency: `{boundary: wall}` or `{meters: [rail]}`. Without it, all
    meters must have one boundary, and the efficiency is over all of them."""
