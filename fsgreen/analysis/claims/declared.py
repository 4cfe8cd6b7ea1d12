"""The claims of a study and how each is tested, as `claims.yaml` and its neighbours declare it.

A paper's files are in `fsgreen/papers/NAME`. Those of a study of your own are in `studies/NAME/`,
where each claim also has its statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, get_args

from fsgreen import claims, schema
from fsgreen.analysis.claims.kinds import (
    Amount,
    Entry,
    Levels,
    Ratio,
    Relation,
    Selector,
    levels_of,
)
from fsgreen.analysis.claims.states import State, known_columns
from fsgreen.design import factors, metrics
from fsgreen.errors import FsgreenError, unknown
from fsgreen.schema import Document, Fault, Place

PAPERS = Path(__file__).parents[2] / "papers"

NEEDS: Mapping[str, str] = {"wall-meter": "a meter at the wall (modelled power decides nothing)"}
"""Needs that every study may name: preconditions that it may lack."""


@dataclass(frozen=True)
class Claims:
    """The claims of a study, and how each is tested: mappings by slug or by name."""

    study: str
    stated: Mapping[str, Mapping[str, Any]]
    """What is claimed, by slug, as in `data/reference/claims.yaml`."""
    entries: Mapping[str, Entry]
    """How each claim is tested, by slug."""
    needs: Mapping[str, str]
    """Texts of the needs of tests."""
    cells: Mapping[str, Levels]
    """Levels of the cells that have a name."""
    states: Mapping[str, State]
    """The states that claims are about."""

    @classmethod
    def of(
        cls, study: str, checks: Collection[str] = (), recomputed: Collection[str] = ()
    ) -> Claims:
        """Read the claims of a study. A study without a file of claims has none.

        `checks` and `recomputed` name functions in the paper's package: those that a `check` may
        name, and the slugs of the claims that may be `published`.

        Raises FsgreenError with everything that is wrong in the files, by line.
        """
        document, needs, cells = declared(study, "claims"), needs_of(study), cells_of(study)
        states = states_of(study)
        if document is None:
            return cls(study, {}, {}, needs, cells, states)
        published = claims.load_claims(study)
        entries, faults = _sound_entries(document)
        faults += [
            fault
            for slug, entry in entries.items()
            for fault in (
                *_wrong(slug, entry, published, needs, cells, checks, recomputed),
                *_unknown_states(slug, entry, states),
            )
        ]
        faults += [
            Fault((), f"the claim {slug} has no entry, and would vanish from the report")
            for slug in published
            if slug not in document.values
        ]
        if faults:
            raise document.refusal(faults)
        return cls(study, published or _own(study, entries), entries, needs, cells, states)

    def needed(self, slug: str) -> str:
        """Return the needs of a claim's test, in words."""
        return "; ".join(self.needs[name] for name in self.entries[slug].needs)


def _sound_entries(document: Document) -> tuple[dict[str, Entry], list[Fault]]:
    """Return the well-formed entries by slug, and the faults of the others."""
    entries, faults = document.parsed(dict[str, Entry])
    if not all(fault.place for fault in faults):
        raise document.refusal(faults)
    wrong = {fault.place[0] for fault in faults}
    sound = [slug for slug in document.values if slug not in wrong]
    return entries or {slug: document.as_(Entry, (slug,)) for slug in sound}, faults


def _own(study: str, entries: Mapping[str, Entry]) -> dict[str, dict[str, Any]]:
    """Return the claims that a study states in its own entries, in the form of published ones."""
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
    """Return the texts of the needs of a study's tests, by name."""
    document = declared(study, "needs")
    own = {} if document is None else document.as_(dict[str, str])
    return {**NEEDS, **own}


def cells_of(study: str) -> dict[str, Levels]:
    """Return the levels of the cells to which a study gives a name, by name."""
    document = declared(study, "cells")
    return {} if document is None else document.as_(dict[str, Levels])


def states_of(study: str) -> dict[str, State]:
    """Return the states that the claims of a study are about, by name.

    Raises FsgreenError if a state names a column that no trial has, or a level that no cell can
    have.
    """
    document = declared(study, "states")
    if document is None:
        return {}
    states = document.as_(dict[str, State])
    faults = []
    for name, state in states.items():
        for column in state.holds:
            if column not in known_columns():
                what = unknown("column of a trial's state", column, known_columns()).what
                faults.append(Fault((name, "holds", column), what))
        for factor, levels in state.of.items():
            faults += [
                Fault((name, "of", factor), wrong) for wrong in _wrong_levels(factor, levels)
            ]
    if faults:
        raise document.refusal(faults)
    return states


def declared(study: str, name: str) -> Document | None:
    """Return one of a study's files (claims, needs, cells or states); None if it has none."""
    for file in (PAPERS / study / f"{name}.yaml", claims.own_file(study, name)):
        if file.is_file():
            next_step = "docs/claims.md has the kinds of claims and their keys"
            return schema.read(file, f"file of {name}", next_step)
    return None


def _wrong(
    slug: str,
    entry: Entry,
    published: Mapping[str, Mapping[str, Any]],
    needs: Collection[str],
    cells: Mapping[str, Levels],
    checks: Collection[str],
    recomputed: Collection[str],
) -> Iterator[Fault]:
    """Yield the faults of an entry: what is missing, and names of things that do not exist."""
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
    for nth, number in enumerate(() if published else numbers):
        if number.get("op") not in get_args(Relation):
            what = unknown("op of a number", number.get("op"), get_args(Relation)).what
            yield Fault((slug, "numbers", nth, "op"), what)
        if type(number.get("value")) not in (int, float):
            yield Fault((slug, "numbers", nth, "value"), "a number takes a `value`")
    for kind, nth, selector in entry.selectors:
        for what in _wrong_selector(entry, selector, numbers, needs, cells):
            yield Fault((slug, kind, nth), what)
    tested = entry.check or entry.published or entry.needs or any(True for _ in entry.selectors)
    if not tested:
        yield Fault((slug,), f"nothing tests {slug}: name cells, a check, or what it needs")


def _wrong_selector(
    entry: Entry,
    selector: Selector,
    numbers: Collection[Mapping[str, Any]],
    needs: Collection[str],
    cells: Mapping[str, Levels],
) -> Iterator[str]:
    against = getattr(selector, "against", None) or ()
    if isinstance(selector, Ratio):
        ends = [name for name in ("at_least", "at_most") if getattr(selector, name) is not None]
        if (selector.number is None) == (not ends):
            yield "a ratio takes a number, or at_least and at_most, and not both"
        low, high = selector.at_least, selector.at_most
        if low is not None and high is not None and low > high:
            yield f"no ratio is at least {low:g} and at most {high:g}"
    if isinstance(selector, Amount) and not selector.limits:
        yield "nothing is claimed: name a number, at_least, at_most or above"
    if isinstance(selector, Amount) and len(selector.limits) > 1 + selector.is_between:
        yield f"one of {' and '.join(selector.limits)} would not count: name one, or both ends"
    of_selector = [levels_of(cell, cells) for cell in (*selector.of, *against)]
    named = [own for _, _, own in of_selector]
    levels = [pair for cell in (entry.where, selector.where, *named) for pair in cell.items()]
    for several in (selector.for_each, getattr(selector, "over", {})):
        levels += [(name, level) for name, of in several.items() for level in of]
    for name, level in levels:
        yield from _wrong_levels(name, [level])
    of_cells = {name for _, base, _ in of_selector for name in base}
    names = {"of", "against", "cell", *of_cells, *(name for name, _ in levels)}
    names |= {"option"} if "file_system" in names else set()
    for text in (selector.what or "", selector.published or ""):
        yield from _wrong_placeholders(text, names)
    if selector.requires is not None and selector.requires not in needs:
        yield unknown("need", selector.requires, needs).what
    number = selector.number
    if number is not None and number >= len(numbers):
        yield f"number {number} of {len(numbers)} published numbers, which begin at 0"
    elif number is not None and selector.metric is None:
        of = list(numbers)[number].get("metric", "")
        if metrics.published(of) is None:
            yield unknown("metric of the published number", of, metrics.names()).what


def _wrong_levels(factor: str, levels: Iterable[factors.Level]) -> Iterator[str]:
    """Yield what is wrong with the levels of a factor."""
    for level in levels:
        try:
            if wrong := factors.get(factor).check(level):
                yield wrong
        except FsgreenError as error:
            yield error.what


def _unknown_states(slug: str, entry: Entry, states: Collection[str]) -> Iterator[Fault]:
    """Yield the names in a claim or its parts that are no state of the study."""
    places: dict[Place, tuple[str, ...]] = {(slug, "state"): entry.state}
    places |= {(slug, kind, nth, "state"): part.state for kind, nth, part in entry.selectors}
    for place, names in places.items():
        for nth, name in enumerate(names):
            if name not in states:
                yield Fault((*place, nth), unknown("state", name, states).what)


def _wrong_placeholders(text: str, names: Collection[str]) -> Iterator[str]:
    """Yield the names in braces in a text that are no name of a cell or of a factor."""
    try:
        placeholders = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        yield f"{text!r} cannot be filled in: {error}"
        return
    for name in placeholders:
        if name not in names:
            yield unknown("name in braces", name, names).what
