"""Factorial designs over options of a file system: their runs and their aliases.

Each option is off or on. A full design runs every combination. A fraction of resolution IV runs the
fewest combinations that keep single options clear of pairs. A fraction of resolution V also keeps
pairs clear of each other.

Terms that a fraction cannot tell apart are aliases. They follow from its defining words: products
of options that are the same in every run (Box, Hunter & Hunter, Statistics for Experimenters, 2nd
ed., chapter 6). Among fractions of one size, the one with the fewest short words is taken: minimum
aberration (Fries & Hunter, Technometrics 22, 1980). The sizes of fractions agree with the table in
Box, Hunter & Hunter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fsgreen.design.subspace import span
from fsgreen.errors import FsgreenError, unknown

MOST_OPTIONS = 8
"""Most options of a design. A full design of more has over 256 runs in every block."""

FRACTIONS = {"full": 0, "IV": 4, "V": 5}

Term = tuple[str, ...]
"""One option, a pair, or more, whose joint effect is meant; in the order of their design."""


@dataclass(frozen=True)
class Factorial:
    """A two-level design over options. The run without any option, `default`, belongs to it.

    `words` are all its defining words. A full design has none.
    """

    options: tuple[str, ...]
    words: tuple[Term, ...] = ()

    @property
    def resolution(self) -> int | None:
        """Return the length of the shortest word; None for a full design."""
        return min(map(len, self.words), default=None)

    @property
    def runs(self) -> tuple[frozenset[str], ...]:
        """Return the options that are on in each run, in standard order.

        Each run, like `default`, has an even number of the options of each word.
        """
        return tuple(
            run
            for run in map(frozenset, _subsets(self.options))
            if all(len(run.intersection(word)) % 2 == 0 for word in self.words)
        )

    def term(self, options: Iterable[str]) -> Term:
        """Return options in the order of the design."""
        chosen = set(options)
        return tuple(option for option in self.options if option in chosen)

    def aliases(self, term: Term) -> tuple[tuple[int, Term], ...]:
        """Return the aliases of a term, each after its sign, the shortest first.

        The data estimate the sum of the term and of its aliases times their signs. Effects are
        coefficients of levels coded -1 and +1.
        """
        aliased = [
            ((-1) ** len(word), self.term(set(term).symmetric_difference(word)))
            for word in self.words
        ]
        return tuple(sorted(aliased, key=lambda entry: (len(entry[1]), self._places(entry[1]))))

    def clear(self, term: Term) -> bool:
        """Return whether no single option and no pair is aliased with a term."""
        return all(len(alias) > 2 for _, alias in self.aliases(term))

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return every option, every pair, and one longer term for each further contrast."""
        subsets = sorted(_subsets(self.options), key=lambda term: (len(term), self._places(term)))
        chosen: list[Term] = []
        taken: set[Term] = {(), *self.words}
        for term in subsets:
            if 0 < len(term) <= 2 or term not in taken:
                chosen.append(term)
                taken |= {term, *(alias for _, alias in self.aliases(term))}
        return tuple(chosen)

    def _places(self, term: Term) -> tuple[int, ...]:
        return tuple(map(self.options.index, term))


def declared_options(declared: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the option of each run that a study declares as `factorial`, `default` first.

    `options` is a list of options. An inner list holds options that exclude each other: a factor of
    three or more levels, which needs a full design. `fraction` is `full` (the default), `IV` or
    `V`. Raises FsgreenError if anything else is declared, or fewer than two options, or more than
    `MOST_OPTIONS`.
    """
    if others := declared.keys() - {"options", "fraction"}:
        raise unknown("key of a factorial", sorted(others)[0], ["options", "fraction"])
    fraction = str(declared.get("fraction", "full"))
    if fraction not in FRACTIONS:
        raise unknown("fraction", fraction, FRACTIONS, next_step="full runs every combination")
    factors = _factors(declared.get("options"))
    if fraction == "full":
        runs = itertools.product(*[(None, *factor) for factor in reversed(factors)])
        return tuple(_name(filter(None, reversed(run))) for run in runs)
    if any(len(factor) > 1 for factor in factors):
        raise FsgreenError(
            "a fraction has options that are off or on, not lists of them",
            where=f"factorial of {', '.join(map('/'.join, factors))}",
            next_step="fraction: full, or one option of each list",
        )
    design = fractional([option for (option,) in factors], FRACTIONS[fraction])
    return tuple(_name(design.term(run)) for run in design.runs)


def fractional(options: Sequence[str], resolution: int) -> Factorial:
    """Return the design with the fewest runs that has at least this resolution.

    The last options are products of the first ones. If no fraction has the resolution, the full
    design is returned.
    """
    count = len(options)
    for basic in range(1, count):
        candidates = [
            sum(chosen)
            for size in range(resolution - 1, basic + 1)
            for chosen in itertools.combinations([1 << place for place in range(basic)], size)
        ]
        best: tuple[tuple[int, ...], list[int]] | None = None
        for products in itertools.combinations(candidates, count - basic):
            words = span(
                product | 1 << (basic + place) for place, product in enumerate(products)
            ) - {0}
            lengths = [word.bit_count() for word in words]
            pattern = tuple(lengths.count(length) for length in range(1, count + 1))
            if min(lengths) >= resolution and (best is None or pattern < best[0]):
                best = pattern, sorted(words)
        if best is not None:
            return with_words(tuple(options), best[1])
    return Factorial(tuple(options))


def with_words(options: tuple[str, ...], words: Iterable[int]) -> Factorial:
    """Return the design with these defining words; bit n of a word stands for option n."""
    terms = [
        tuple(option for place, option in enumerate(options) if word >> place & 1) for word in words
    ]
    return Factorial(options, tuple(sorted(terms, key=lambda term: (len(term), term))))


def options_on(option: str) -> frozenset[str]:
    """Return the single options that a cell's option combines; none for `default`."""
    return frozenset() if option == "default" else frozenset(option.split("+"))


def alias_text(design: Factorial, term: Term, longest: int = 3) -> str:
    """Return the aliases of a term that have up to `longest` options, as text: `-b:c; d:e`."""
    return "; ".join(
        ("-" if sign < 0 else "") + ":".join(alias)
        for sign, alias in design.aliases(term)
        if len(alias) <= longest
    )


def _factors(listed: object) -> list[tuple[str, ...]]:
    """Return the options of each factor. Raises FsgreenError if they are not valid."""
    entries = listed if isinstance(listed, list) else []
    factors = [tuple(entry) if isinstance(entry, list) else (entry,) for entry in entries]
    names = [name for factor in factors for name in factor]
    for name in names:
        if not isinstance(name, str) or name in ("", "default") or "+" in name:
            raise FsgreenError(
                f"a factorial combines single options, not {name!r}",
                next_step="options: [noatime, blk2k]",
            )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FsgreenError(
            f"{twice[0]} stands twice in a factorial", next_step="name each option once"
        )
    if not 2 <= len(factors) <= MOST_OPTIONS or not all(factors):
        raise FsgreenError(
            f"a factorial combines 2 to {MOST_OPTIONS} options, and here are {len(factors)}",
            where=", ".join(names) or None,
            next_step="options: [noatime, blk2k]",
        )
    return factors


def _name(options: Iterable[str]) -> str:
    return "+".join(options) or "default"


def _subsets(options: Sequence[str]) -> Iterator[Term]:
    """Yield all subsets in standard order: the first option varies fastest."""
    for bits in range(2 ** len(options)):
        yield tuple(option for place, option in enumerate(options) if bits >> place & 1)
