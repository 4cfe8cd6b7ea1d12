"""Every number and text of the sun14 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen import confounds
from fsgreen.analysis.numbers import campaign_numbers
from fsgreen.papers.sun14.figures import NUMBERS
from fsgreen.papers.sun14.reference import Printed


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/sun14.typ` shows, ready to be written as JSON."""
    captions = {
        f"fig{number}": f"Figure {number}: {workload} on a simulated SSD-I, by file system and "
        "scheduler."
        for workload, number in NUMBERS.items()
    }
    return {
        **campaign_numbers(campaign, Printed.load().method["paper"]),
        "figures": [{"file": f"{name}.svg", "caption": text} for name, text in captions.items()],
        "probed": any(not curve.empty for curve in confounds.read_probes(campaign).values()),
    }
