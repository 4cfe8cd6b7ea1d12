"""What a frame shows of a source."""

import json
import math

import numpy as np
import pytest

from fsgreen.view import Synthetic
from fsgreen.view.frames import Frames
from fsgreen.view.window import FLAGGED, HIGHEST, LOWEST
from tests.view.sources import Told


def shown(frame, nth=0, layer=HIGHEST):
    """The values of a series by the time of their column, rounded."""
    values = frame.layers[layer, nth]
    start_s, width_s = frame.about["start_s"], frame.about["width_s"]
    return {
        round(start_s + k * width_s, 5): float(values[k]) for k in np.flatnonzero(values == values)
    }


@pytest.fixture
def source():
    source = Told()
    source.tell(1000.0, 214.0)
    return source


def test_readings_come_in_between_frames_and_are_asked_for_once(source):
    frames = Frames(source)
    frames.follow(10.0, 100)
    assert shown(frames.next()) == {0.0: 214.0}
    source.time_s = 1002.0
    source.tell(1001.0, 215.0)
    source.tell(1002.0, 216.0)
    assert shown(frames.next()) == {0.0: 214.0, 1.0: 215.0, 2.0: 216.0}
    source.rows["system"].clear()
    assert shown(frames.next()) == {0.0: 214.0, 1.0: 215.0, 2.0: 216.0}


def test_the_last_seconds_move_on_and_drop_what_is_older(source):
    frames = Frames(source)
    frames.follow(10.0, 100)
    source.time_s = 1014.95
    source.tell(1014.0, 230.0)
    frame = frames.next()
    assert frame.about["start_s"] == pytest.approx(5.0)
    assert shown(frame) == {14.0: 230.0}


def test_a_view_that_begins_late_shows_what_was_before(source):
    source.tell(1001.0, 215.0)
    source.time_s = 1003.0
    frames = Frames(source)
    frames.follow(60.0, 600)
    assert shown(frames.next()) == {0.0: 214.0, 1.0: 215.0}


def test_a_reading_that_is_newer_than_the_clock_is_not_lost(source):
    frames = Frames(source)
    frames.follow(10.0, 100)
    source.time_s = 1012.0
    source.tell(1012.45, 999.0)
    assert shown(frames.next())[12.4] == 999.0


def test_a_reading_of_a_wild_time_blanks_nothing(source):
    frames = Frames(source)
    frames.follow(10.0, 100)
    source.tell(9e9, 999.0)
    frames.next()
    source.time_s = 1001.0
    source.tell(1001.0, 215.0)
    assert shown(frames.next()) == {0.0: 214.0, 1.0: 215.0}


def test_flagged_readings_are_counted_and_remarks_are_not(source):
    source.time_s = 1005.0
    source.tell(1001.0, math.nan, "cut")
    source.tell(1001.01, 5000.0, "retimed|over-range")
    source.tell(1003.0, 215.0, "retimed")
    frames = Frames(source)
    frames.follow(10.0, 100)
    frame = frames.next()
    assert shown(frame, layer=FLAGGED)[1.0] == 2
    assert frame.layers[FLAGGED].sum() == 2
    assert frame.about["flags"] == ["cut", "over-range"]
    assert shown(frame)[1.0] == 5000.0, "what a meter said is shown"


def test_a_range_stays_and_is_seen_in_finer_columns():
    source = Told()
    for nth in range(1000):
        source.tell(1000 + nth / 1000, float(nth))
    source.time_s = 1059.0
    frames = Frames(source)
    frames.follow(60.0, 60)
    assert list(shown(frames.next()).values()) == [999.0]
    frames.show(0.4995, 0.5995, 100)
    source.time_s = 1100.0
    frame = frames.next()
    assert frame.about["start_s"] == pytest.approx(0.4995)
    assert list(shown(frame).values()) == list(range(500, 600))


def test_phases_of_the_window_are_named_and_one_goes_on(source):
    source.phases_told = [
        ("prepare", 900.0, 990.0),
        ("idle", 999.0, 1001.0),
        ("measure", 1001.0, math.inf),
    ]
    source.time_s = 1002.0
    frames = Frames(source)
    frames.follow(10.0, 100)
    assert frames.next().about["phases"] == [("idle", -1.0, 1.0), ("measure", 1.0, None)]


def test_work_is_the_last_series(source):
    source.rates = [(1000.5, 1200.0)]
    source.time_s = 1001.0
    frames = Frames(source)
    frames.follow(10.0, 100)
    frame = frames.next()
    assert shown(frame, nth=1) == {0.5: 1200.0}
    assert frame.about["newest"] == [214.0, 1200.0]


def test_what_is_said_about_a_frame_is_json(source):
    """JSON has no NaN and no infinity."""
    source.tell(1000.5, math.nan, "cut")
    source.phases_told = [("idle", 999.0, math.inf)]
    source.time_s = 1001.0
    json.dumps(Frames(source).next().about, allow_nan=False)


def test_a_source_without_readings_gives_an_empty_frame():
    frame = Frames(Told()).next()
    assert np.isnan(frame.layers[:FLAGGED]).all()
    assert frame.about["newest"] == [None, None]


def test_a_single_reading_of_a_fast_meter_is_seen_in_ten_minutes_of_it(monkeypatch):
    clock = [50.0]
    monkeypatch.setattr("fsgreen.view.synthetic.time.monotonic", lambda: clock[0])
    source = Synthetic(10_000.0, spike_w=999.0)
    frames = Frames(source)
    frames.follow(600.0, 800)
    for _ in range(61):
        clock[0] += 10.0
        frame = frames.next()
    highest = frame.layers[HIGHEST, 0]
    assert (highest == 999.0).sum() == 60, "a spike each ten seconds, the oldest gone"
    lowest = frame.layers[LOWEST, 0]
    assert np.nanmin(lowest) == pytest.approx(Synthetic.IDLE_W - Synthetic.RIPPLE_W, abs=0.01)
