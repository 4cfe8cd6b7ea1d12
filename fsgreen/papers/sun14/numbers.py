"""Every number and text of the sun14 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen.analysis.numbers import report_numbers
from fsgreen.papers.sun14.figures import NUMBERS
from fsgreen.papers.sun14.reference import Printed


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/sun14.typ` shows, ready to be written as JSON."""
    captions = {
        f"fig{number}": f"Figure {number}: {workload} on a simulated SSD-I, by file system and "
        "scheduler."
        for workload, number in NUMBERS.items()
    }
    return report_numbers(campaign, Printed.load().method["paper"], captions)
