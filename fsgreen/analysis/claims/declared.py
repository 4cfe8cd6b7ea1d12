"""How the claims of a study are put to the test, as `claims.yaml` and `needs.yaml` declare it.

A paper's files stand in its room, `fsgreen/papers/NAME`; those of a study of your own in
`studies/NAME/`, where each claim also says what it claims.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fsgreen import claims, paths, schema
from fsgreen.analysis import configuration
from fsgreen.design import factors, metrics
from fsgreen.design.factors import Level
from fsgreen.errors import FsgreenError, unknown
from fsgreen.schema import Declared, Document, Fault

PAPERS = Path(__file__).parents[2] / "papers"

ANYWHERE = ("real-disk", "loop", "vm", "simulation")
"""Where the claims of a study of one's own are decided."""

NEEDS: Mapping[str, str] = {"wall-meter": "a meter at the wall (modelled power decides nothing)"}
"""What every study may lack."""


def _cells(value: Any) -> Any:
    """Return levels of one cell or of several as mappings; `ext3/dtlg` is a file system's."""
    several = value if isinstance(value, list) else [value]
    return [dict(configuration.parse(one)) if isinstance(one, str) else one for one in several]


Cells = Annotated[tuple[dict[str, Level], ...], BeforeValidator(_cells)]


class Selector(Declared):
    """Cells that a claim is about, and what is claimed of them.

    `where` holds for all cells; there is a part for each combination of `for_each`. `number` is the
    place of the published number in the claim, `metric` what it is of, if the number does not say:
    a metric, or a column of `trials.csv`.
    """

    of: Cells
    where: dict[str, Level] = Field(default_factory=dict)
    for_each: dict[str, tuple[Level, ...]] = Field(default_factory=dict)
    number: int | None = Field(default=None, ge=0)
    metric: str | None = None


class Ratio(Selector):
    """Each cell of `of` over the one that has the levels of `against` is as the number says.

    Without `against` it is the same file system with its defaults.
    """

    number: int = Field(ge=0)
    against: Cells | None = Field(default=None, max_length=1)


class Order(Selector):
    """The cells of `of`, the highest first: each is above the next."""

    of: Annotated[tuple[dict[str, Level], ...], BeforeValidator(_cells)] = Field(min_length=2)


class Amount(Selector):
    """The metric of each cell of `of` is the number itself, or between two bounds."""

    metric: str
    at_least: float | None = None
    at_most: float | None = None


class Equivalence(Selector):
    """Each cell of `of` is within the study's bound of the one with the levels of `against`."""

    metric: str
    against: Cells = Field(max_length=1)


class Entry(Declared):
    """How one claim is put to the test."""

    ratio: tuple[Ratio, ...] = ()
    order: tuple[Order, ...] = ()
    level: tuple[Amount, ...] = ()
    equivalence: tuple[Equivalence, ...] = ()
    where: dict[str, Level] = Field(default_factory=dict)
    check: str | None = None
    published: bool = False
    on: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    built: bool = False
    caution: str = ""
    statement: str | None = None
    numbers: tuple[dict[str, Any], ...] = ()
    testable_on: tuple[str, ...] = ANYWHERE

    @property
    def selectors(self) -> Iterator[tuple[str, int, Selector]]:
        """Yield each selector with its kind and its place among those."""
        for kind in ("ratio", "order", "level", "equivalence"):
            for nth, selector in enumerate(getattr(self, kind)):
                yield kind, nth, selector


@dataclass(frozen=True)
class Claims:
    """The claims of a study, and how each is put to the test.

    Attributes
    ----------
    study : str
        Its name.
    stated : mapping
        By slug what is claimed, as `data/reference/claims.yaml` has it.
    entries : mapping
        By slug how it is tested.
    needs : mapping
        Texts for what a test would take, by name.
    """

    study: str
    stated: Mapping[str, Mapping[str, Any]]
    entries: Mapping[str, Entry]
    needs: Mapping[str, str]

    @classmethod
    def of(
        cls, study: str, checks: Collection[str] = (), recomputed: Collection[str] = ()
    ) -> Claims:
        """Read the claims of a study; there are none where it declares none.

        Parameters
        ----------
        study : str
            Its name.
        checks, recomputed : collection of str
            Names of the functions that its room has: by `check`, and by slug if `published`.

        Raises
        ------
        FsgreenError
            With everything that is wrong in the file, by line.
        """
        document, needs = declared(study, "claims"), needs_of(study)
        if document is None:
            return cls(study, {}, {}, needs)
        entries = document.as_(dict[str, Entry])
        published = claims.load_claims(study)
        faults = [
            fault
            for slug, entry in entries.items()
            for fault in _wrong(slug, entry, published, needs, checks, recomputed)
        ]
        faults += [
            Fault((), f"the claim {slug} has no entry, and would vanish from the report")
            for slug in published
            if slug not in entries
        ]
        if faults:
            raise document.refusal(faults)
        return cls(study, published or _own(study, entries), entries, needs)


def _own(study: str, entries: Mapping[str, Entry]) -> dict[str, dict[str, Any]]:
    """Return the claims that a study states itself."""
    return {
        slug: {
            "id": f"{study}-{nth:02}",
            "section": "",
            "kind": "own",
            "statement": entry.statement,
            "numbers": entry.numbers,
            "testable_on": entry.testable_on,
        }
        for nth, (slug, entry) in enumerate(entries.items(), start=1)
    }


def needs_of(study: str) -> dict[str, str]:
    """Return the texts for what a test would take, by name."""
    document = declared(study, "needs")
    own = {} if document is None else document.as_(dict[str, str])
    return {**NEEDS, **own}


def declared(study: str, name: str) -> Document | None:
    """Return one of the files on the claims of a study, `claims` or `needs`, if it has it."""
    places = (PAPERS / study, paths.root() / "studies" / study)
    files = [place / f"{name}.yaml" for place in places if (place / f"{name}.yaml").is_file()]
    if not files:
        return None
    (file, *_) = files
    return schema.read(
        file, f"file of {name}", "docs/statistics.md has the kinds of claims and their keys"
    )


def _wrong(
    slug: str,
    entry: Entry,
    published: Mapping[str, Mapping[str, Any]],
    needs: Collection[str],
    checks: Collection[str],
    recomputed: Collection[str],
) -> Iterator[Fault]:
    """Yield what an entry names that does not exist."""
    if published and slug not in published:
        yield Fault((slug,), unknown("claim", slug, published).what)
        return
    if not published and entry.statement is None:
        yield Fault((slug,), f"{slug} takes a `statement`: what is claimed, in a sentence")
    if entry.check is not None and entry.check not in checks:
        yield Fault((slug, "check"), unknown("check", entry.check, checks).what)
    if entry.published and slug not in recomputed:
        yield Fault((slug, "published"), f"nothing recomputes {slug} from printed numbers")
    for nth, name in enumerate(entry.needs):
        if name not in needs:
            yield Fault((slug, "needs", nth), unknown("need", name, needs).what)
    numbers = published[slug]["numbers"] if published else entry.numbers
    for kind, nth, selector in entry.selectors:
        for what in _wrong_selector(entry, selector, numbers):
            yield Fault((slug, kind, nth), what)
    tested = entry.check or entry.published or entry.needs or any(True for _ in entry.selectors)
    if not tested:
        yield Fault((slug,), f"nothing tests {slug}: name cells, a check, or what it needs")


def _wrong_selector(
    entry: Entry, selector: Selector, numbers: Collection[Mapping[str, Any]]
) -> Iterator[str]:
    against = getattr(selector, "against", None) or ()
    named = (entry.where, selector.where, *selector.of, *against)
    levels = [(name, level) for cell in named for name, level in cell.items()]
    levels += [(name, level) for name, of in selector.for_each.items() for level in of]
    for name, level in levels:
        try:
            if wrong := factors.get(name).check(level):
                yield wrong
        except FsgreenError as error:
            yield error.what
    number = selector.number
    if number is not None and number >= len(numbers):
        yield f"number {number} of {len(numbers)} published numbers, which begin at 0"
    elif number is not None and selector.metric is None:
        of = list(numbers)[number].get("metric", "")
        if metrics.published(of) is None:
            yield unknown("metric of the published number", of, metrics.names()).what
