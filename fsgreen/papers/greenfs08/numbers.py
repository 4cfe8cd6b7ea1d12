"""Every number and text of the greenfs08 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen import confounds
from fsgreen.analysis.numbers import campaign_numbers
from fsgreen.papers.greenfs08.figures import captions
from fsgreen.papers.greenfs08.reference import Printed


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/greenfs08.typ` shows, ready to be written as JSON."""
    return {
        **campaign_numbers(campaign, Printed.load().method["paper"]),
        "figures": [{"file": f"{name}.svg", "caption": text} for name, text in captions().items()],
        "probed": any(not curve.empty for curve in confounds.read_probes(campaign).values()),
    }
