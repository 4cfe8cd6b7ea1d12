"""The live view: watts, work and phase in a notebook, while they are measured."""

from __future__ import annotations

from pathlib import Path

from fsgreen.meters import Capture
from fsgreen.view.source import CaptureSource, Progress, Source, Work
from fsgreen.view.synthetic import Synthetic, exercise
from fsgreen.view.trialfolder import TrialFolder, newest_trial
from fsgreen.view.widget import LiveView

__all__ = [
    "CaptureSource",
    "LiveView",
    "Progress",
    "Source",
    "Synthetic",
    "TrialFolder",
    "Work",
    "exercise",
    "live",
    "newest_trial",
]


def live(
    source: Capture | Path | Source, progress: Progress | None = None, *, span_s: float = 60.0
) -> LiveView:
    """Display what is being measured, and go on until that ends.

    In a `with` statement the view ends with it too.

    The source is a capture that records, the folder of a trial or of a campaign (whose newest trial
    is shown), or anything else that can be looked at. `progress` is what a capture is told of
    phases and work. `span_s` seconds are seen at once. Raises FsgreenError if a folder holds no
    trace.
    """
    if isinstance(source, Capture):
        source = CaptureSource(source, progress or Progress())
    elif isinstance(source, Path):
        source = TrialFolder(newest_trial(source) if (source / "trials").is_dir() else source)
    view = LiveView(source, span_s=span_s)
    view.show()
    view.start()
    return view
