"""The kernel's half of the widget: frames, their pace, their cost, and how it ends."""

import math
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import traitlets
from hatchling.builders.wheel import WheelBuilder

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture
from fsgreen.view import LiveView, Progress, Synthetic, live, widget
from fsgreen.view.window import HIGHEST
from tests.emulated import wattsup
from tests.patience import wait_for
from tests.view.sources import Told

STATIC = Path(widget.__file__).parent / "static"


class Browser:
    """Keeps the messages of a view, and answers its frames if it is `awake`."""

    def __init__(self, monkeypatch, *, awake=True):
        self.awake = awake
        self.messages = []
        receive = self._receive
        monkeypatch.setattr(
            LiveView, "send", lambda view, *said, **more: receive(view, *said, **more)
        )

    def _receive(self, view, content, buffers=None):
        self.messages.append((content, buffers))
        if self.awake and "frame" in content:
            view._handle_custom_msg({"drawn": content["frame"]}, [])

    @property
    def frames(self):
        return [content for content, _ in self.messages if "frame" in content]


@pytest.fixture
def browser(monkeypatch):
    return Browser(monkeypatch)


@pytest.fixture
def view(browser):
    """A view of a source that a test tells; not started."""
    source = Told()
    source.tell(1000.0, 214.0)
    view = LiveView(source)
    yield view
    view.close()


def no_view_is_left():
    return not any(thread.name == "live view" for thread in threading.enumerate())


def test_a_frame_is_one_buffer_of_floats(browser, view):
    view.columns = 200
    (about, (data,)) = browser.messages[-1]
    layers = np.frombuffer(data, "<f4").reshape(3, 2, 200)
    assert layers[HIGHEST, 0, 0] == 214.0
    assert np.isnan(layers[HIGHEST, 0, 1:]).all()
    assert about["width_s"] == pytest.approx(60 / 200)


def test_it_ends_with_its_source_after_a_last_whole_frame(browser):
    view = LiveView(Synthetic(100.0, duration_s=1.0, spike_w=None))
    view.start()
    wait_for(no_view_is_left)
    assert browser.frames[-1]["ended"] and not browser.frames[0]["ended"]
    _, (data,) = browser.messages[-1]
    power_w = np.frombuffer(data, "<f4").reshape(3, 2, -1)[HIGHEST, 0]
    assert np.isfinite(power_w).sum() >= 13, "1 s in columns of 75 ms"
    view.close()


@pytest.mark.parametrize("end", ["stop", "close", "with"])
def test_it_ends_when_it_is_told_to_and_leaves_no_thread(browser, end):
    source = Told()
    with live(source) as view:
        wait_for(lambda: len(browser.frames) > 0)
        if end != "with":
            getattr(view, end)()
            assert no_view_is_left()
    assert no_view_is_left()
    assert browser.frames[-1]["ended"]
    view.close()
    view.close()


def test_a_capture_shows_its_meters_and_what_progress_is_told(browser, tmp_path):
    meter = wattsup(lambda: 173.2, "a", pace_s=0.05)
    progress = Progress()
    progress.begin("measure")
    progress.count(7)
    try:
        with Capture({"server": meter}, tmp_path / "power.raw") as capture:
            view = live(capture, progress)
            wait_for(lambda: any(f["newest"][0] == 173.2 for f in browser.frames))
        wait_for(no_view_is_left)
    finally:
        meter.close()
    assert view.series[0]["name"] == "server"
    assert view.boundary == "modelled"
    last = browser.frames[-1]
    assert last["ended"] and last["phases"][0][0] == "measure"
    view.close()


def test_frames_are_skipped_not_queued_while_the_browser_is_slow(monkeypatch):
    monkeypatch.setattr(widget, "PATIENCE_S", 3600.0)
    browser = Browser(monkeypatch, awake=False)
    with live(Synthetic(100.0)) as view:
        wait_for(lambda: view.cost.skipped_count >= 3)
        assert len(browser.frames) == widget.IN_FLIGHT
        browser.awake = True
        view._handle_custom_msg({"drawn": browser.frames[-1]["frame"]}, [])
        wait_for(lambda: len(browser.frames) >= widget.IN_FLIGHT + 3)
    view.close()


def test_a_browser_that_never_answers_still_gets_a_frame_now_and_then(monkeypatch):
    """Some front ends are heard only between cells."""
    monkeypatch.setattr(widget, "PATIENCE_S", 0.05)
    browser = Browser(monkeypatch, awake=False)
    with live(Synthetic(100.0)) as view:
        wait_for(lambda: len(browser.frames) >= widget.IN_FLIGHT + 3)
    view.close()


def test_a_slow_meter_is_not_drawn_more_often_than_it_speaks(browser):
    begin_s = time.monotonic()
    with live(Synthetic(1.0)) as view:
        wait_for(lambda: browser.frames)
        time.sleep(0.5)
        frames = len(browser.frames)
        assert frames <= 1 + math.floor(time.monotonic() - begin_s)
    view.close()


def test_a_trace_that_breaks_ends_the_view_and_says_why(browser):
    source = Told()
    view = LiveView(source)

    def broken(*_):
        raise FsgreenError("the trace is broken", next_step="mend it")

    source.since = broken
    view.start()
    wait_for(no_view_is_left)
    assert view.fault is not None
    assert "mend it" in browser.messages[-1][0]["fault"]
    view._display = object()  # nothing that could take a picture
    view.close()


def test_zooming_shows_finer_columns_also_after_the_end(browser, view):
    view._source.tell(1000.4, 300.0)
    view._source.time_s = 1001.0
    view._handle_custom_msg({"zoom_s": [0.3, 0.5]}, [])
    about, (data,) = browser.messages[-1]
    assert about["start_s"] == pytest.approx(0.3) and about["width_s"] == pytest.approx(0.2 / 800)
    assert 300.0 in np.frombuffer(data, "<f4")
    view._handle_custom_msg({"zoom_s": None, "span_s": 10}, [])
    assert browser.frames[-1]["width_s"] == pytest.approx(10 / 800)


@pytest.mark.parametrize(
    "said",
    [
        {"zoom_s": [2.0, 1.0]},
        {"zoom_s": [1.0, 1.0]},
        {"zoom_s": [float("nan"), 1.0]},
        {"zoom_s": "all"},
        {"columns": 10**9},
        {"columns": 0},
        {"span_s": 0},
    ],
)
def test_nonsense_from_a_browser_changes_nothing(view, said):
    before = (view.zoom_s, view.columns, view.span_s)
    with pytest.raises(traitlets.TraitError):
        view._hear(said)
    assert (view.zoom_s, view.columns, view.span_s) == before


def test_a_browser_that_comes_later_gets_a_frame(browser, view):
    view._handle_custom_msg({"want": True}, [])
    assert browser.frames[-1]["newest"][0] == 214.0


def test_what_it_costs_is_counted_and_said(browser, view):
    for _ in range(3):
        view._handle_custom_msg({"want": True}, [])
    assert view.cost.frames_count == len(browser.frames) == 3
    assert 0 < view.cost.mean_ms <= view.cost.worst_ms
    assert browser.frames[-1]["mean_ms"] > 0


def test_closing_puts_a_picture_where_the_view_was(browser, view):
    class Handle:
        shown = None

        def update(self, image):
            self.shown = image

    view._display = handle = Handle()
    view.close()
    assert handle.shown.data.startswith(b"\x89PNG")


def test_nothing_is_fetched_from_the_network():
    ours = (STATIC / "live.js").read_text() + (STATIC / "live.css").read_text()
    assert "http" not in ours and "import " not in ours
    assert "uPlot (v1.6.32)" in LiveView._esm


def test_the_wheel_has_the_scripts_and_the_licence():
    files = {file.path for file in WheelBuilder(str(paths.root())).recurse_included_files()}
    for file in STATIC.iterdir():
        assert str(file) in files
    assert "MIT License" in (STATIC / "uPlot.LICENSE").read_text()
