"""How a claim is put to the test, as a file may declare it: selectors of cells, checks, needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fsgreen.analysis import configuration
from fsgreen.design import factors
from fsgreen.schema import Declared

ANYWHERE = ("real-disk", "loop", "vm", "simulation")
"""Where the claims of a study of one's own are decided."""


def _cells(value: Any) -> Any:
    """Return levels of one cell or of several as mappings.

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
"""How ours relates to a number; another word would be taken for `approx`."""

Levels = dict[str, factors.Level]
Cells = Annotated[tuple[Levels, ...], BeforeValidator(_cells)]


class Selector(Declared):
    """Cells that a claim is about, and what is claimed of them.

    Attributes
    ----------
    of : list of cells
        Levels by factor; `cell` is the name of a cell of `cells.yaml`, or `ext3/dtlg`.
    where, for_each : mapping
        Levels that all cells have; there is a part for each combination of `for_each`.
    number : int, optional
        Place of the published number in the claim.
    op : Relation, optional
        How ours relates to that number, where the claim has another word for it.
    metric : str, optional
        What it is of, if the number does not say: a metric, or a column of `trials.csv`.
    what, published : str, optional
        What the part is called, and what the paper says; `{of}`, `{against}` and `{FACTOR}` are
        names of cells and levels.
    requires : str, optional
        Name of a need: a precondition without which the part decides nothing.
    state : list of str
        Names of states that the cells are to be in, beside those of the claim.
    built : bool
        The model was made so: agreement is by construction.
    """

    of: Cells
    where: Levels = Field(default_factory=dict)
    for_each: dict[str, tuple[factors.Level, ...]] = Field(default_factory=dict)
    number: int | None = Field(default=None, ge=0)
    op: Relation | None = None
    metric: str | None = None
    what: str | None = None
    published: str | None = None
    requires: str | None = None
    state: tuple[str, ...] = ()
    built: bool = False


class Comparing(Selector):
    """A selector that compares cells.

    With `over` there is one part for all of its levels: that in which the claim fares worst.
    """

    over: dict[str, tuple[factors.Level, ...]] = Field(default_factory=dict)


class Ratio(Comparing):
    """Each cell of `of` over the one that has the levels of `against` is as the number says.

    Or it is from `at_least` to `at_most`, a factor, where the claim has no such number. Without
    `against` it is the same file system with its defaults; of several it is the first that ran.
    `tolerance` is the share by which ours may differ, where it is not that of all measured ratios.
    `against_metric` is what is taken of the other cell, where it is something else.
    """

    against: Cells | None = None
    against_metric: str | None = None
    at_least: float | None = Field(default=None, gt=0)
    at_most: float | None = Field(default=None, gt=0)
    tolerance: float | None = Field(default=None, gt=0)


class Order(Comparing):
    """The cells of `of`, the highest first: each is above the next.

    With `beyond_bound` it is so by more than what counts as equal.
    """

    of: Annotated[tuple[Levels, ...], BeforeValidator(_cells)] = Field(min_length=2)
    beyond_bound: bool = False


class Amount(Selector):
    """The metric of each cell of `of` is the number itself, above a bound, or between two.

    With the `unit` x, the number is a factor; a share is written in per cent. There is no direction
    in which it could agree without the size, as nothing is compared.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    unit: Literal["", "x", "share"] = ""

    @property
    def limits(self) -> list[str]:
        """Return the names of what the metric is held against."""
        names = ("number", "at_least", "at_most", "above")
        return [name for name in names if getattr(self, name) is not None]

    @property
    def is_between(self) -> bool:
        """Return whether the metric lies between two ends."""
        return self.limits == ["at_least", "at_most"]


class Equivalence(Comparing):
    """Each cell of `of` is within the study's bound of the one with the levels of `against`."""

    metric: str
    against: Cells = Field(max_length=1)


class Entry(Declared):
    """How one claim is put to the test."""

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
        """Yield each selector with its kind and its place among those."""
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
    """Return what a selector calls a cell, the levels of that name, and the cell's own levels.

    A text that is no name is a configuration, whose levels are the cell's own.
    """
    own = dict(cell)
    name = str(own.pop("cell", ""))
    if name in named:
        return name, named[name], own
    return "", {}, {**(configuration.parse(name) if name else {}), **own}
