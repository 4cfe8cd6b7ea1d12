"""The steps of the ager: the same for the same seed, possible, and as full as declared."""

import statistics
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.stacks.aging import churn
from fsgreen.stacks.aging.churn import APPEND, CREATE, DELETE, OVERWRITE, Churn, Step

CAPACITY_B = 64 << 20


def life(seed: int, rounds: int = 2, capacity_b: int = CAPACITY_B) -> list[Step]:
    living = Churn(seed, capacity_b, utilisation=0.4, highest=0.8)
    return [step for _ in range(rounds) for step in chain(living.fill(), living.shrink())]


def used_b(sizes_b: dict[int, int]) -> int:
    return sum(-(-size_b // churn.BLOCK_B) * churn.BLOCK_B for size_b in sizes_b.values())


@given(st.integers(0, 2**64))
def test_a_seed_gives_one_life(seed: int) -> None:
    assert life(seed, capacity_b=1 << 20) == life(seed, capacity_b=1 << 20)


def test_another_seed_gives_another_life() -> None:
    assert life(1) != life(2)


@given(st.integers(0, 2**32), st.integers(1 << 18, 1 << 23))
def test_every_step_is_possible_when_it_comes(seed: int, capacity_b: int) -> None:
    """An append to a deleted file or an overwrite beyond the end would stop the ager."""
    sizes_b: dict[int, int] = {}
    for kind, number, offset_b, length_b in life(seed, capacity_b=capacity_b):
        assert length_b > 0
        if kind == CREATE:
            assert number not in sizes_b and offset_b == 0
            sizes_b[number] = length_b
        elif kind == APPEND:
            assert offset_b == sizes_b[number]
            sizes_b[number] += length_b
        elif kind == OVERWRITE:
            assert offset_b >= 0 and offset_b + length_b <= sizes_b[number]
        else:
            assert kind == DELETE and length_b == sizes_b.pop(number)


def test_a_round_rises_to_the_peak_and_ends_at_the_utilisation() -> None:
    living = Churn(5, CAPACITY_B, utilisation=0.4, highest=0.8)
    slack_b = CAPACITY_B / 64 + churn.CHANGE_B + churn.BLOCK_B
    for _ in range(3):
        kinds = {step.kind for step in living.fill()}
        assert kinds == {CREATE, APPEND, OVERWRITE}
        assert 0 <= used_b(living.sizes_b) - 0.8 * CAPACITY_B <= slack_b
        largest_b = max(living.sizes_b.values()) + churn.BLOCK_B
        assert {step.kind for step in living.shrink()} == {DELETE}
        assert -largest_b <= used_b(living.sizes_b) - 0.4 * CAPACITY_B <= 0


def test_new_files_have_the_published_sizes() -> None:
    sizes_b = [step.length_b for step in life(7, 1, 4 << 30) if step.kind == CREATE]
    assert len(sizes_b) > 5000
    assert statistics.median(sizes_b) == pytest.approx(4096, rel=0.1)
    assert 120 * 1024 < statistics.fmean(sizes_b) < 189 * 1024
    assert max(sizes_b) <= (4 << 30) / 64
