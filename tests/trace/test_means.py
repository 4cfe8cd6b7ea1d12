"""Readings that are means since the one before: energies are sums of rows, in whatever pieces."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.trace import MeterTrace
from fsgreen.trace.powerfile import Piece

FINE = replace(INFO, range_w=500.0)

lengths = st.lists(st.sampled_from([0.25, 0.5, 1.0, 3.0]), min_size=4, max_size=30)
places = st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda ends: ends[0] + 0.01 < ends[1])


@given(lengths, places, st.lists(st.integers(1, 29), max_size=5), st.integers(0, 2**32 - 1))
def test_a_sum_of_rows_is_what_a_counter_would_have_counted(steps_s, ends, cuts, seed):
    time_s = 100 + np.append(0.0, np.cumsum(steps_s))
    power_w = np.random.default_rng(seed).uniform(0, 400, len(time_s))
    span = tuple(time_s[0] + place * (time_s[-1] - time_s[0]) for place in ends)
    begins = sorted({0, len(time_s), *(cut for cut in cuts if cut < len(time_s))})
    reduced = MeterTrace(FINE, [span], means=True)
    for begin, end in pairwise(begins):
        reduced.feed(Piece(time_s[begin:end], power_w[begin:end]))
    counted_j = np.append(0.0, np.cumsum(power_w[1:] * np.diff(time_s)))
    before_j, after_j = np.interp(span, time_s, counted_j)
    assert reduced.energy_j() == pytest.approx(after_j - before_j, rel=1e-9, abs=1e-9)


def trace_of(power_w: list[float], span: tuple[float, float]) -> MeterTrace:
    """A row a second from second 0, means since the row before."""
    columns = {"time_s": np.arange(float(len(power_w))), "power_w": power_w}
    return MeterTrace.of(pd.DataFrame(columns), FINE, [span], means=True)


def test_only_an_interval_in_the_span_may_lack_its_value():
    assert trace_of([1.0, np.nan, 3.0, 4.0], (1.0, 3.0)).energy_j() == pytest.approx(7.0)
    with pytest.raises(FsgreenError, match="without a value"):
        trace_of([1.0, np.nan, 3.0, 4.0], (0.5, 3.0)).energy_j()


def test_the_limit_of_error_covers_energy_on_either_side_of_an_edge():
    """At up to 500 W the 100 J of a second may have been drawn in either half of it."""
    reduced = trace_of([10.0, 10.0, 100.0, 10.0, 10.0], (1.5, 3.0))
    assert reduced.energy_j() == pytest.approx(60.0)
    assert reduced.error_budget().edges_j == pytest.approx(50.0)
    assert trace_of([10.0, 10.0, 100.0, 10.0], (1.0, 3.0)).error_budget().edges_j == 0
