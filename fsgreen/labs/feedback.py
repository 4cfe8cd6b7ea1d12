"""What a check says of an answer: that it is right, or what to look at next; never the answer."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

UNITS_APART = (60.0, 100.0, 1000.0, 3600.0, 1e6)
"""Between two units that are easily taken for each other: minutes, per cent, kilo, hours, mega."""


class NotYet(Exception):
    """An answer that is missing or not right; a notebook shows its feedback without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"Not yet: {self}"]


class Task(Protocol):
    """Something with one right answer."""

    def check(self, answer: Any) -> float | None:
        """Return the number that was found, None where it is none; raises NotYet with feedback."""


@dataclass(frozen=True)
class Mistake:
    """The number that a typical mistake leads to, and what is said of it."""

    answer: float
    says: str


@dataclass(frozen=True)
class Number:
    """A task whose answer is a number.

    `within_percent` is how far off it may be; of two mistakes that lead to nearly the same number
    the first is named.
    """

    right: float
    unit: str
    mistakes: Sequence[Mistake] = ()
    within_percent: float = 1.0

    def check(self, answer: Any) -> float:
        """Return the answer; raises NotYet for a mistake, a wrong unit, and whatever else."""
        number = _number(answer, self.unit)
        if self._near(number, self.right):
            return number
        for mistake in self.mistakes:
            if self._near(number, mistake.answer):
                raise NotYet(mistake.says)
        for factor in UNITS_APART:
            if self._near(number * factor, self.right) or self._near(number / factor, self.right):
                raise NotYet(f"your number is not in the unit that is asked for, {self.unit}.")
        if number and self._near(-number, self.right):
            raise NotYet("the sign says the opposite of what you found.")
        raise NotYet("that is not it, and none of the usual mistakes either. Open the hint.")

    def _near(self, number: float, other: float) -> bool:
        return math.isclose(number, other, rel_tol=self.within_percent / 100, abs_tol=1e-12)


@dataclass(frozen=True)
class Choice:
    """A task whose answer is one of some words; `says` has the feedback to each that is wrong."""

    right: str
    says: Mapping[str, str]

    @classmethod
    def by_interval(cls, low: float, high: float, bound: float, says: Mapping[str, str]) -> Choice:
        """Return the task to say what the interval of a ratio shows.

        The words of `says`, in their order: that the interval leaves out 1, that all of it is
        within `bound`, and neither.
        """
        different, equal, unknown = says
        if low > 1 or high < 1:
            return cls(different, says)
        within = 1 - bound < low and high < 1 / (1 - bound)
        return cls(equal if within else unknown, says)

    def check(self, answer: Any) -> None:
        """Raise NotYet if the answer is another word."""
        _given(answer)
        if answer == self.right:
            return
        if answer in self.says:
            raise NotYet(self.says[answer])
        raise NotYet(f"choose one of: {', '.join(sorted({self.right, *self.says}))}.")


@dataclass(frozen=True)
class Choices:
    """A task whose answer is a set of words.

    `too_many` and `too_few` are said where the answer holds a wrong one, or lacks a right one.
    """

    right: Collection[str]
    known: Collection[str]
    too_many: str
    too_few: str

    def check(self, answer: Any) -> None:
        """Raise NotYet if the answer is another set; a list will do."""
        _given(answer)
        chosen = {answer} if isinstance(answer, str) else set(answer)
        if unknown := chosen - set(self.known):
            known = ", ".join(sorted(self.known))
            raise NotYet(f"{', '.join(sorted(map(str, unknown)))}: choose from {known}.")
        if chosen - set(self.right):
            raise NotYet(self.too_many)
        if set(self.right) - chosen:
            raise NotYet(self.too_few)


def _given(answer: Any) -> None:
    if answer is ...:
        raise NotYet("there is no answer yet. Put it in place of `...`, and run both cells again.")


def _number(answer: Any, unit: str) -> float:
    _given(answer)
    try:
        number = float(answer)
    except (TypeError, ValueError):
        kind = type(answer).__name__
        raise NotYet(f"one number is asked for, in {unit}; this is a {kind}.") from None
    if not math.isfinite(number):
        raise NotYet(
            f"this is {number}, no number: a reading without a value may have come into a sum."
        )
    return number
