"""Factorial designs over options of a file system: what is run, and what it cannot tell apart.

Each option is off or on. A full design runs every combination; a fraction of resolution IV runs the
fewest that keep single options clear of pairs, one of resolution V also keeps pairs clear of each
other. What a fraction cannot tell apart, its aliases, follows from its defining words: products of
options that are the same in every run (Box, Hunter & Hunter, Statistics for Experimenters, 2nd ed.,
chapter 6). Among fractions of one size the one with fewest short words is taken, the minimum
aberration of Fries & Hunter (Technometrics 22, 1980); their sizes are those of the table in Box,
Hunter & Hunter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fsgreen.design.subspace import span
from fsgreen.errors import FsgreenError, unknown

MOST_OPTIONS = 8
"""A full design of more has over 256 runs, and each run is repeated in every block."""

FRACTIONS = {"full": 0, "IV": 4, "V": 5}

Term = tuple[str, ...]
"""Options whose joint effect is meant, in the order of their design: one, a pair, or more."""


@dataclass(frozen=True)
class Factorial:
    """A two-level design over options; the run without any, `default`, belongs to it.

    `words` are all its defining words; a full design has none.
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

        A word holds an even number of the options of each run, as it does of `default`.
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
        """Return what cannot be told from a term, the shortest first, each with its sign.

        The data estimate the sum of the term and all these, each times its sign, where effects are
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
        """Return every option, every pair, and of longer terms one for each further contrast."""
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

    Parameters
    ----------
    declared : mapping
        `options`, a list in which a list of its own holds options that exclude each other (three
        levels or more: a full design only), and `fraction`: full (the default), IV or V.

    Raises
    ------
    FsgreenError
        For anything else, and for fewer than two options or more than `MOST_OPTIONS`.
    """
    others = declared.keys() - {"options", "fraction"}
    if others:
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
    """Return the design with fewest runs that has a resolution, or more than it.

    The last options are products of the first ones. A full design is returned where no fraction
    has the resolution.
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
    """Return the design with all these words, in each of which bit n stands for option n."""
    terms = [
        tuple(option for place, option in enumerate(options) if word >> place & 1) for word in words
    ]
    return Factorial(options, tuple(sorted(terms, key=lambda term: (len(term), term))))


def options_on(option: str) -> frozenset[str]:
    """Return the options that the option of a cell combines: none for `default`."""
    return frozenset() if option == "default" else frozenset(option.split("+"))


def alias_text(design: Factorial, term: Term, longest: int = 3) -> str:
    """Return the aliases of a term with up to so many options: `-b:c; d:e`."""
    return "; ".join(
        ("-" if sign < 0 else "") + ":".join(alias)
        for sign, alias in design.aliases(term)
        if len(alias) <= longest
    )


def _factors(listed: object) -> list[tuple[str, ...]]:
    """Return the options of each factor, or refuse them."""
    entries = listed if isinstance(listed, list) else []
    factors = [tuple(entry) if isinstance(entry, list) else (entry,) for entry in entries]
    names = [name for factor in factors for name in factor]
    for name in names:
        if not isinstance(name, str) or name in ("", "default") or "+" in name:
            raise FsgreenError(
                f"a factorial combines single options, not {name!r}",
                next_step="options: [noatime, blk2k]",
            )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
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
