"""A study as it is declared: factors, levels, constants, exclusions, bounds and the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fsgreen.design.cell import Cell
from fsgreen.design.factors import Factor, Level


@dataclass(frozen=True)
class PlannedEvent:
    """Something that is done in each trial, `at_s` seconds after the start of a phase.

    `do` is a name that the device, the stack or the workload offers: `cable_out`.
    """

    phase: str
    at_s: float
    do: str


@dataclass(frozen=True)
class Windows:
    """Short windows in which cells take turns, in place of one interval each (rule 47).

    Attributes
    ----------
    count : int
        Windows of each trial.
    length_s : float
        Length of a window in seconds.
    ready : int
        Trials that are kept ready side by side, at most.
    """

    count: int
    length_s: float
    ready: int


@dataclass(frozen=True)
class Profile:
    """How much of a study is run, and how long.

    Attributes
    ----------
    blocks : int
        Passes over all cells.
    most_blocks : int, optional
        Passes after which the last cell ends: until then, cells whose interval is still too wide
        get more (`design.sequential`). Without it, all cells end after `blocks`.
    idle_s, warmup_s, measure_s, settle_limit_s : float
        Lengths of the phases; `settle_limit_s` is the longest wait for idle power. Of a trial in
        windows, `measure_s` is that of all of them.
    scale : mapping of workload to float
        Factor on the published number of files, or file size for oltp.
    image_b : int
        Size of the file system under test.
    bounds : mapping, optional
        Bounds beside those of the study, or instead of them.
    constants : mapping, optional
        Constants beside those of the study, or instead of them.
    events : tuple of PlannedEvent
        What is done to the device, the stack or the workload in the course of each trial.
    windows : Windows, optional
        Those in which cells take turns; without them, one trial runs after the other.
    """

    name: str
    matrices: tuple[str, ...]
    blocks: int
    idle_s: float
    warmup_s: float
    measure_s: float
    settle_limit_s: float
    scale: Mapping[str, float]
    image_b: int
    most_blocks: int | None = None
    bounds: Mapping[str, float] | None = None
    constants: Mapping[str, Any] | None = None
    events: tuple[PlannedEvent, ...] = ()
    windows: Windows | None = None

    @property
    def interval_s(self) -> float:
        """Return how long a meter has at a time: the measured interval, or a window of it."""
        return self.measure_s if self.windows is None else self.windows.length_s

    @property
    def sequential(self) -> bool:
        """Return whether a cell may end when its interval is narrow enough (rule 27)."""
        return self.most_blocks is not None

    @property
    def last_block(self) -> int:
        """Return the number of the last block that there may be."""
        return self.blocks if self.most_blocks is None else self.most_blocks

    @property
    def least_trial_s(self) -> float:
        """Return the length of a trial without making files and waiting for idle power.

        Trials that are ready side by side share their idle phases.
        """
        sharing = 1 if self.windows is None else self.windows.ready
        return 2 * self.idle_s / sharing + self.warmup_s + self.measure_s


@dataclass(frozen=True)
class Comparison:
    """What is compared: cells that differ in one factor alone.

    Attributes
    ----------
    factor : str
        The factor that they differ in.
    against : Level, optional
        The level that the others are compared with; without it each is compared with each.
    within : Cell
        Levels of other factors that both cells have.
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
    """What a study leaves out, and why (rules 1 and 6).

    Attributes
    ----------
    what, why : str
        In words. Exclusions that say the same are one in the plan: "full sizes and lengths".
    factor : str, optional
        The factor some levels of which are left out; `scale` and `measure_s` are those of profiles,
        made smaller. Without it, no rule can tell what is covered.
    levels : tuple
        The levels; all but those of the plan where there are none.
    profiles : tuple of str
        Those that it is about; all where there are none.
    only_there : bool
        Whether it is in the plans of its profiles alone, so that others stay as they were measured
        where a profile is added.
    since : str
        What became of the reason after plans were made with it. It is in no plan, so that the
        campaigns of these keep what was declared before they were measured.
    """

    what: str
    why: str
    factor: str | None = None
    levels: tuple[Level, ...] = ()
    profiles: tuple[str, ...] = ()
    only_there: bool = False
    since: str = ""


@dataclass(frozen=True)
class Study:
    """A declared experiment, as its file states it.

    Attributes
    ----------
    factors : tuple of Factor
        Those that the study declares itself.
    workloads : mapping
        Workloads that the study declares itself, as its file has them.
    metrics : tuple of str
        What cells are compared in, by name of the metric.
    comparisons : tuple of Comparison
        What is compared; where there is none, what the plan varies (`analysis.comparisons`).
    treatments : tuple of str
        Factors in which cells that are compared may differ, and over which they share the model of
        their scatter; where there is none, file system, option and the factors of comparisons.
    efficiency : mapping, optional
        What the efficiency is over, `{boundary: wall}` or `{meters: [rail]}`; without it, the
        meters have one boundary, and it is over all of them.
    """

    name: str
    title: str
    question: str
    seed: int
    baseline: Cell
    constants: Mapping[str, Any]
    bounds: Mapping[str, float]
    exclusions: tuple[Exclusion, ...]
    matrices: Mapping[str, tuple[Cell, ...]]
    profiles: Mapping[str, Profile]
    factors: tuple[Factor, ...] = ()
    workloads: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("throughput", "efficiency")
    comparisons: tuple[Comparison, ...] = ()
    treatments: tuple[str, ...] = ()
    efficiency: Mapping[str, Any] | None = None
