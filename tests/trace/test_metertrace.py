"""A trace that passes by in pieces must give what the whole trace gives."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import INFO, sampled, whole_budget, whole_counter_energy_j, whole_energy_j

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.trace import checks, slots
from fsgreen.trace.powerfile import Piece

RATE_HZ = 100.0
FAST = replace(INFO, rate_hz=RATE_HZ)
OF_THE_COUNTER = ("counter", "stale")
"""Flaws that only a trace which is held is looked at for."""

QUALITIES = ["ok", "retimed", "clipped", "lost|clipped", "power-cycled"]


def piece(readings: pd.DataFrame, begin: int = 0, end: int | None = None) -> Piece:
    """Some rows of a trace as they come from a file."""
    rows = readings.iloc[begin:end]
    counter = rows["energy_wh"]
    return Piece(
        rows["time_s"].to_numpy(float),
        rows["power_w"].to_numpy(float),
        energy_wh=None if counter.isna().all() else counter.to_numpy(float),
        codes=None
        if (rows["quality"] == "ok").all()
        else np.array([QUALITIES.index(quality) for quality in rows["quality"]], np.int32),
        qualities=QUALITIES,
    )


def streamed(
    readings: pd.DataFrame,
    spans: list[tuple[float, float]],
    cuts: list[int] | None = None,
    edges_s: Any = (),
) -> trace.MeterTrace:
    """The trace in pieces that begin at `cuts`."""
    reduced = trace.MeterTrace(FAST, spans, edges_s)
    places = sorted({0, len(readings), *(cuts or [])})
    for begin, end in pairwise(places):
        reduced.feed(piece(readings, begin, end))
    return reduced


def answer(ask: Any) -> Any:
    """What a question gives: a value, or the words of its refusal."""
    try:
        with np.errstate(invalid="ignore"):
            return ask()
    except FsgreenError as error:
        return error.what


@st.composite
def traces(draw: st.DrawFn) -> pd.DataFrame:
    """A trace of a hundred readings a second with a few faults, or none.

    Its intervals are equal but for one step of the host's clock, or vary.
    """
    count = draw(st.integers(1, 150))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    late, scatter = draw(st.sampled_from([(0.0, 0.0), (0.0, 0.0), (0.15, 0.0), (0.0, 0.3)]))
    ends = np.cumsum(rng.normal(1, scatter, count)) + rng.uniform(0, late, count)
    readings = sampled(lambda t: 5 + rng.normal(0, 1, len(t)), 1e4 + ends / 100)
    if late == scatter == 0:
        by = draw(st.sampled_from([0.0, -8.4, -1.7, -0.5, -0.35, 0.35, 0.45]))
        readings.loc[draw(st.integers(0, count)) :, "time_s"] += by / 100
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.integers(0, count - 1))
        column, value = draw(
            st.sampled_from(
                [
                    ("power_w", np.nan),
                    ("power_w", np.inf),
                    ("power_w", -1.0),
                    ("power_w", 0.0),
                    ("energy_wh", np.nan),
                    ("energy_wh", -1.0),
                    ("time_s", np.nan),
                    ("time_s", 1e4),
                    *(("quality", quality) for quality in QUALITIES),
                ]
            )
        )
        readings.loc[row, column] = value
    if draw(st.booleans()):
        readings["energy_wh"] = np.nan
    lost = draw(st.sets(st.integers(0, count - 1), max_size=3))
    return readings.drop(index=list(lost)).reset_index(drop=True)


places = st.floats(-0.1, 1.1, allow_nan=False)
rows = st.sampled_from([(1, 1), (2, 3), (4, 1), (4, 2), (256, 1)])


held = st.sampled_from([checks.HELD, checks.TAIL, 40])


@settings(max_examples=200)
@given(traces(), st.lists(st.tuples(places, places), min_size=1, max_size=3), rows, held, st.data())
def test_streamed_in_any_pieces_equals_the_whole(readings, shares, row_and_rows, held, data):
    row, in_block = row_and_rows
    with (
        mock.patch.multiple(slots, ROW=row, BLOCK=row * in_block),
        mock.patch.multiple(checks, HELD=held),
    ):
        streamed_equals_the_whole(readings, shares, data)


def streamed_equals_the_whole(readings: pd.DataFrame, shares: Any, data: Any) -> None:
    """Every answer on every span, and the series between its edges, against `trace`'s own.

    Flaws are the same to the word; those of a trace too long to be held break the same rules.
    """
    first_s = 1e4 + 0.01
    length_s = 0.01 * (len(readings) + 1)
    spans = [(first_s + a * length_s, first_s + b * length_s) for a, b in shares if a + 1e-3 < b]
    if data.draw(st.booleans()) and len(readings) > 2:
        on_readings = np.sort(readings["time_s"].iloc[[0, -1]].to_numpy())
        spans += [tuple(on_readings)] if on_readings[0] < on_readings[1] else []
    if not spans:
        return
    cuts = data.draw(st.lists(st.integers(0, len(readings)), max_size=30))
    found = streamed(readings, spans, cuts, edges_s := np.unique(spans))
    means_w = answer(found.series_w)
    for nth, edges in enumerate(pairwise(edges_s)):
        if not isinstance(means_w, str) and np.isfinite(means_w[nth]):
            assert means_w[nth] == pytest.approx(
                whole_energy_j(readings, *edges) / (edges[1] - edges[0]), rel=1e-9
            )
    for nth, span in enumerate(spans):
        ours = [found.energy_j, found.counter_energy_j, found.error_budget]
        whole: list[Any] = [
            lambda span=span: whole_energy_j(readings, *span),
            lambda span=span: whole_counter_energy_j(readings, *span),
            lambda span=span: whole_budget(readings, *span, FAST),
        ]
        for one, other, relative in zip(ours, whole, (1e-12, 1e-6, 1e-9), strict=True):
            assert_same(answer(partial(one, nth)), answer(other), relative)
        with np.errstate(invalid="ignore"):
            flaws = found.flaws(nth)
            of_whole = trace.check_trace(readings, *span, RATE_HZ, info=FAST)
        if len(readings) < checks.HELD:
            assert flaws == of_whole
        else:
            told = {flaw.rule for flaw in of_whole if flaw.name not in OF_THE_COUNTER}
            assert {flaw.rule for flaw in flaws} == told


def assert_same(one: Any, other: Any, relative: float) -> None:
    """Two answers agree to a relative error; refusals to the word."""
    if isinstance(other, trace.ErrorBudget):
        one, other = vars(one), vars(other)
    if isinstance(other, str):
        assert one == other
    else:
        assert one == pytest.approx(other, rel=relative, abs=1e-11, nan_ok=True)
