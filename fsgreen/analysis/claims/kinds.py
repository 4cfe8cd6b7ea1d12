"""The schema of a claim's test in a file: selectors of cells, checks, needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fsgreen.analysis import configuration
from fsgreen.design import factors
from fsgreen.schema import Declared

ANYWHERE = ("real-disk", "loop", "vm", "simulation")
"""The testbeds that decide the claims of a study of one's own, unless it says otherwise."""


def _cells(value: Any) -> Any:
    """Return the levels of each cell as a mapping, given one cell or a list of cells.

    A text is the name of a cell, or a configuration such as `ext3/dtlg`.
    """
    several = value if isinstance(value, list) else [value]
    return [{"cell": one} if isinstance(one, str) else one for one in several]


Relation = Literal[
    "approx",
    "exact",
    "range",
    "at_least",
    "at_most",
    "greater_than",
    "less_than",
    "at_least_about",
    "slightly_above",
    "indistinguishable",
    "order_of_magnitude",
]
"""How our number relates to the published one. `claims.band` would take any other word for
`approx`."""

Levels = dict[str, factors.Level]
Cells = Annotated[tuple[Levels, ...], BeforeValidator(_cells)]


class Selector(Declared):
    """Cells that a claim is about, and what is claimed of them."""

    of: Cells
    """Levels by factor. `cell` is the name of a cell of `cells.yaml`, or a configuration such as
    `ext3/dtlg`."""
    where: Levels = Field(default_factory=dict)
    for_each: dict[str, tuple[factors.Level, ...]] = Field(default_factory=dict)
    """`where` and `for_each` are levels that all cells have. There is a part for each combination
    of levels of `for_each`."""
    number: int | None = Field(default=None, ge=0)
    """The place of the published number in the claim, from 0."""
    op: Relation | None = None
    """How our number relates to the published one, in place of the claim's own word."""
    metric: str | None = None
    """A metric, or a column of `trials.csv`; needed if the published number names none."""
    what: str | None = None
    published: str | None = None
    """The name of the part (`what`), and the words of the paper. `{of}`, `{against}` and `{FACTOR}`
    stand for names of cells and levels."""
    requires: str | None = None
    """The name of a need: a precondition without which the part decides nothing."""
    state: tuple[str, ...] = ()
    """Names of states that the cells must be in, besides those of the claim."""
    built: bool = False
    """Whether the model was made to agree: then the part holds by construction."""


class Comparing(Selector):
    """A selector that compares cells.

    With `over`, one part stands for all of its levels: the worst one for the claim.
    """

    over: dict[str, tuple[factors.Level, ...]] = Field(default_factory=dict)


class Ratio(Comparing):
    """The ratio of each cell of `of` to a baseline agrees with the published number.

    If the claim has no such number, the ratio lies between `at_least` and `at_most`. The baseline
    has the levels of `against`. The default is the same file system with its default option; of
    several baselines, the first that ran counts. `tolerance` is the relative difference that still
    agrees, in place of the tolerance for all measured ratios. `against_metric` is the metric of the
    baseline, if it is another one.
    """

    against: Cells | None = None
    against_metric: str | None = None
    at_least: float | None = Field(default=None, gt=0)
    at_most: float | None = Field(default=None, gt=0)
    tolerance: float | None = Field(default=None, gt=0)


class Order(Comparing):
    """The cells of `of` in falling order: each is above the next.

    With `beyond_bound`, each exceeds the next by more than the study's bound of equivalence.
    """

    of: Annotated[tuple[Levels, ...], BeforeValidator(_cells)] = Field(min_length=2)
    beyond_bound: bool = False


class Amount(Selector):
    """The metric of each cell of `of` is the published number, above a bound, or between two.

    With the `unit` x, the number is a factor. A share is written in per cent. Nothing is compared,
    so there is no direction that could agree without the size.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    unit: Literal["", "x", "share"] = ""

    @property
    def limits(self) -> list[str]:
        """Return the names of the limits that are set."""
        names = ("number", "at_least", "at_most", "above")
        return [name for name in names if getattr(self, name) is not None]

    @property
    def is_between(self) -> bool:
        """Return whether the metric lies between two ends."""
        return self.limits == ["at_least", "at_most"]


class Equivalence(Comparing):
    """Each cell of `of` is equivalent to the one of `against`, by the study's bound."""

    metric: str
    against: Cells = Field(max_length=1)


class Entry(Declared):
    """How one claim is tested: selectors, a `check`, printed numbers (`published`), or `needs`."""

    ratio: tuple[Ratio, ...] = ()
    order: tuple[Order, ...] = ()
    level: tuple[Amount, ...] = ()
    equivalence: tuple[Equivalence, ...] = ()
    where: Levels = Field(default_factory=dict)
    state: tuple[str, ...] = ()
    check: str | None = None
    published: bool = False
    also_on: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    built: bool = False
    caution: str = ""
    statement: str | None = None
    numbers: tuple[dict[str, Any], ...] = ()
    testable_on: tuple[str, ...] = ANYWHERE

    @property
    def selectors(self) -> Iterator[tuple[str, int, Selector]]:
        """Yield each selector with its kind and its place among the selectors of that kind."""
        for kind in ("level", "ratio", "order", "equivalence"):
            for nth, selector in enumerate(getattr(self, kind)):
                yield kind, nth, selector

    @property
    def states(self) -> list[str]:
        """Return the names of the states that the claim or a part of it is about, each once."""
        of_parts = (name for _, _, selector in self.selectors for name in selector.state)
        return list(dict.fromkeys([*self.state, *of_parts]))


def levels_of(
    cell: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]
) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
    """Return the name that a selector gives a cell, the levels of that name, and its own levels.

    A text that is in `named` is a name. Any other text is a configuration, whose levels count as
    the cell's own.
    """
    own = dict(cell)
    name = str(own.pop("cell", ""))
    if name in named:
        return name, named[name], own
    return "", {}, {**(configuration.parse(name) if name else {}), **own}
