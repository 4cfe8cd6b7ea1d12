"""The factorial designs among the cells of a plan, and the aliases of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from fsgreen.design.cell import DEFAULT, Cell
from fsgreen.design.factorial import Factorial, Term, alias_text, options_on, with_words
from fsgreen.design.subspace import Space, largest_subspace, orthogonal

ROMAN = {4: "IV", 5: "V", 6: "VI", 7: "VII", 8: "VIII"}


def factorials_of(cells: Iterable[Cell]) -> list[tuple[Cell, Factorial]]:
    """Return each design with its `default` cell; the cells of a design differ only in option."""
    options: dict[Cell, list[str]] = {}
    for cell in cells:
        if "option" not in cell:
            continue
        options.setdefault(cell.but(option=DEFAULT), []).append(cell["option"])
    return [
        (default, design)
        for default, of_default in sorted(options.items(), key=lambda item: item[0].label)
        for design in find_factorials(of_default)
    ]


def describe(cells: Iterable[Cell]) -> list[str]:
    """Return lines of text: the factorial designs among the cells, and the aliases of each."""
    of_design: dict[Factorial, list[str]] = {}
    for default, design in factorials_of(cells):
        of_design.setdefault(design, []).append(default.label.replace("-default", "", 1))
    return [
        line
        for design, labels in of_design.items()
        for line in (f"factorial of {', '.join(labels)}:", *map("  {}".format, _lines(design)))
    ]


def find_factorials(options: Sequence[str]) -> list[Factorial]:
    """Return the designs among measured options, the largest first.

    Each combination of two or more options belongs to one design: the largest that has it as a run.
    A design is full, or has resolution IV or more. A factor of three levels is found as its pairs
    of levels.

    Options are those of cells, for example `default`, `noatime` and `noatime+blk2k`.
    """
    names = _in_order(options)
    runs = {sum(1 << names.index(name) for name in options_on(option)) for option in options}
    if 0 not in runs:
        return []
    designs = []
    uncovered = {run for run in runs if run.bit_count() > 1}
    while uncovered:
        largest = largest_subspace(runs, uncovered, _is_design)
        if largest is None:
            break
        uncovered -= largest
        designs.append(_design_of(names, largest))
    return designs


def _lines(design: Factorial) -> Iterator[str]:
    size, runs = 2 ** len(design.options), len(design.runs)
    options = ", ".join(design.options)
    if design.resolution is None:
        yield f"{options}: all {runs} combinations, nothing is aliased"
        return
    yield f"{options}: {runs} of {size} combinations, resolution {ROMAN[design.resolution]}"
    listed: set[Term] = set()
    for pair in itertools.combinations(design.options, 2):
        if pair not in listed and not design.clear(pair):
            yield f"{':'.join(pair)} cannot be told from {alias_text(design, pair, 2)}"
            listed |= {alias for _, alias in design.aliases(pair)}
    if design.resolution == 4:
        yield "single options are clear of pairs; interactions of three or more count as none"
    else:
        yield "single options and pairs are clear of each other"


def _in_order(options: Sequence[str]) -> list[str]:
    """Return the single options, in their order in combinations if that is always the same."""
    split = [option.split("+") for option in sorted(options) if option != "default"]
    names = sorted({name for combination in split for name in combination})
    order = TopologicalSorter({name: () for name in names})
    for combination in split:
        for before, after in itertools.pairwise(combination):
            order.add(after, before)
    try:
        return list(order.static_order())
    except CycleError:
        return names


def _design_of(names: Sequence[str], runs: Space) -> Factorial:
    used, packed = _packed(runs)
    return with_words(tuple(names[place] for place in used), orthogonal(packed, len(used)))


def _is_design(runs: Space) -> bool:
    """Return whether runs are a full design of options, or a fraction of resolution IV or more."""
    used, packed = _packed(runs)
    words = orthogonal(packed, len(used))
    return all(word.bit_count() >= 4 for word in words)


def _packed(runs: Space) -> tuple[list[int], list[int]]:
    """Return the places of the bits that some run has, and the runs reduced to these bits."""
    used = [place for place in range(max(runs).bit_length()) if any(r >> place & 1 for r in runs)]
    packed = [sum((run >> place & 1) << nth for nth, place in enumerate(used)) for run in runs]
    return used, packed
