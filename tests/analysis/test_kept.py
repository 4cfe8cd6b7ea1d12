"""What an object keeps: its own values, one for each question, and no failure."""

from dataclasses import dataclass, field, replace

import pytest

from fsgreen.analysis.kept import kept


@dataclass(frozen=True)
class Asked:
    factor: int
    calls: list[tuple[int, int]] = field(default_factory=list, compare=False)

    @kept
    def times(self, number: int, plus: int = 0) -> int:
        """The product, and something more."""
        self.calls.append((number, plus))
        if number < 0:
            raise ValueError(number)
        return self.factor * number + plus


class Doubled(Asked):
    @kept
    def times(self, number: int, plus: int = 0) -> int:
        return 2 * super().times(number, plus)


def test_each_question_is_answered_once() -> None:
    asked = Asked(3)
    assert [asked.times(2), asked.times(2), asked.times(2, plus=1), asked.times(2, plus=1)] == [
        *(6, 6),
        *(7, 7),
    ]
    assert asked.calls == [(2, 0), (2, 1)]


def test_another_object_answers_for_itself() -> None:
    """A copy with other trials would otherwise be judged on those of the first."""
    asked = Asked(3)
    assert asked.times(2) == 6
    assert replace(asked, factor=5).times(2) == 10


def test_what_a_subclass_makes_of_it_is_apart() -> None:
    doubled = Doubled(3)
    assert [doubled.times(2), doubled.times(2), Asked.times(doubled, 2, 0)] == [12, 12, 6]
    assert doubled.calls == [(2, 0)]


def test_what_failed_is_tried_again() -> None:
    asked = Asked(3)
    for _ in range(2):
        with pytest.raises(ValueError, match="-1"):
            asked.times(-1)
    assert asked.calls == [(-1, 0), (-1, 0)]
