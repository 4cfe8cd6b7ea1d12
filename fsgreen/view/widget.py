"""The widget: frames of a source, pushed to the browser as fast as it draws them and no faster."""

from __future__ import annotations

import atexit
import math
import threading
import time
import uuid
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import anywidget
import comm
import traitlets
from IPython.display import DisplayHandle, Image, display
from matplotlib.figure import Figure

from fsgreen.errors import FsgreenError
from fsgreen.view import picture
from fsgreen.view.frames import Frames
from fsgreen.view.look import boundary_note, series_of
from fsgreen.view.markup import static
from fsgreen.view.source import Source

MAX_FRAMES_HZ = 10.0
IN_FLIGHT = 20
"""How many frames may be under way to a browser, which answers every tenth."""

PATIENCE_S = 0.5
"""A browser that does not answer gets a frame in this time: it may wake, or be heard only later."""

CHANNEL = "fsgreen.view"
"""The target of the comms by which a browser answers while a cell runs."""

CHOICES = ("span_s", "columns", "zoom_s")
"""What a person chooses in the browser."""


@dataclass
class Cost:
    """What the frames so far took of the kernel: processor time of the thread that made them."""

    frames_count: int = 0
    skipped_count: int = 0
    total_ms: float = 0.0
    worst_ms: float = 0.0

    @property
    def mean_ms(self) -> float:
        """Return the processor time of a frame in the mean; 0 before the first."""
        return self.total_ms / max(1, self.frames_count)

    def add(self, cpu_ms: float) -> None:
        """Count a frame."""
        self.frames_count += 1
        self.total_ms += cpu_ms
        self.worst_ms = max(self.worst_ms, cpu_ms)


class LiveView(anywidget.AnyWidget):
    """Watts, work and phase of a source, drawn in the browser from binary frames.

    A frame is a message with one buffer: `Frame.layers` as little-endian float32. The browser
    says which one it has drawn last, and what a person chose. `start` begins to push frames
    from a thread; that ends with the source, by `stop`, or with the kernel.
    """

    _esm = static("uPlot.iife.min.js", "live.js")
    _css = static("uPlot.min.css", "live.css")

    channel = traitlets.Unicode(read_only=True).tag(sync=True)
    series: Any = traitlets.List().tag(sync=True)
    boundary = traitlets.Unicode().tag(sync=True)
    span_s = traitlets.Float(60.0, min=1e-3, max=1e6).tag(sync=True)
    # Not synchronised: an echo would undo what a person did meanwhile.
    columns = traitlets.Int(800, min=50, max=4000)
    zoom_s = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True
    )

    def __init__(self, source: Source, *, span_s: float = 60.0) -> None:
        # First what `close` needs, which also takes down a view that could not be made.
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._display: DisplayHandle | None = None
        self.cost = Cost()
        self.fault: FsgreenError | None = None
        """Why the view ended before its source, or None."""
        self._source = source
        self._frames = Frames(source)
        self._sent = self._drawn = 0
        self._sent_s = -math.inf
        self._lock = threading.RLock()
        super().__init__(
            series=series_of(source.meters), boundary=boundary_note(source.meters), span_s=span_s
        )
        self._fit()
        self.set_trait("channel", uuid.uuid4().hex)
        _VIEWS[self.channel] = self
        comm.get_comm_manager().register_target(CHANNEL, _connect)
        self.observe(self._refit, CHOICES)
        self.on_msg(lambda _, content, __: self._hear(content))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def show(self) -> None:
        """Display the view in the output of the cell that runs."""
        self._display = display(self, display_id=True)

    def start(self) -> None:
        """Push frames until the source or the view ends."""
        self._thread = threading.Thread(target=self._push, name="live view", daemon=True)
        atexit.register(self.stop)
        self._thread.start()

    def stop(self) -> None:
        """Push no more frames; what is there can still be zoomed. Harmless when repeated."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            atexit.unregister(self.stop)

    def close(self) -> None:
        """Stop, and put the static picture where the view was displayed."""
        self.stop()
        if self._display is not None and self.fault is None:
            self._display.update(Image(picture.png(self._source)))
        self._display = None
        super().close()

    def picture(self) -> Figure:
        """Return a static picture of all that there is so far."""
        return picture.draw(self._source)

    def _push(self) -> None:
        rates_hz = [info.rate_hz for info in self._source.meters.values()]
        interval_s = 1 / min(MAX_FRAMES_HZ, max(1.0, *rates_hz))
        try:
            while self._source.running() and not self._stop.is_set():
                if self._is_awaited():
                    self._send_frame()
                else:
                    self.cost.skipped_count += 1
                self._stop.wait(interval_s)
            self._send_frame(ended=True)
        except FsgreenError as error:
            self.fault = error
            self.send({"fault": str(error)})

    def _is_awaited(self) -> bool:
        late = time.monotonic() - self._sent_s >= PATIENCE_S
        return late or self._sent - self._drawn < IN_FLIGHT

    def _send_frame(self, *, ended: bool = False) -> None:
        with self._lock:
            begin_s = time.thread_time()
            frame = self._frames.next()
            self._sent += 1
            self._sent_s = time.monotonic()
            about = frame.about | {
                "frame": self._sent,
                "ended": ended,
                "mean_ms": self.cost.mean_ms,
                "worst_ms": self.cost.worst_ms,
                "skipped": self.cost.skipped_count,
            }
            self.send(about, buffers=[frame.layers.tobytes()])
            self.cost.add(1000 * (time.thread_time() - begin_s))

    def _fit(self) -> None:
        if self.zoom_s is None:
            self._frames.follow(self.span_s, self.columns)
        else:
            from_s, to_s = self.zoom_s
            self._frames.show(from_s, to_s, self.columns)

    def _refit(self, _: Any) -> None:
        with self._lock:
            self._fit()
            self._send_frame(ended=self._has_ended())

    def _has_ended(self) -> bool:
        return self._thread is None or not self._thread.is_alive()

    def _hear(self, content: Mapping[str, Any]) -> None:
        """Take word from the browser: a frame was drawn or is wanted, or a person chose."""
        self._drawn = max(self._drawn, int(content.get("drawn", 0)))
        if content.get("want"):
            self._send_frame(ended=self._has_ended())
        with self.hold_trait_notifications():
            for name in CHOICES:
                if name in content:
                    self.set_trait(name, content[name])

    @traitlets.validate("zoom_s")
    def _rising(self, proposal: Any) -> tuple[float, float] | None:
        zoom_s: tuple[float, float] | None = proposal["value"]
        if zoom_s is not None and not 0 < zoom_s[1] - zoom_s[0] < math.inf:
            raise traitlets.TraitError(f"not a range of time: {zoom_s}")
        return zoom_s


_VIEWS: weakref.WeakValueDictionary[str, LiveView] = weakref.WeakValueDictionary()


def _connect(channel: Any, opening: Mapping[str, Any]) -> None:
    """Pass on what is said over a comm that the browser opened to the view that it names."""
    view = _VIEWS[opening["content"]["data"]["view"]]
    channel.on_msg(lambda message: view._hear(message["content"]["data"]))
