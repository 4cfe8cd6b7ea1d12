"""Every number and text of the sun14 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen.analysis.numbers import report_numbers
from fsgreen.papers.sun14 import cemp
from fsgreen.papers.sun14.figures import NUMBERS
from fsgreen.papers.sun14.reference import Printed
from fsgreen.reduce import read_table


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/sun14.typ` shows, ready to be written as JSON."""
    cells, printed = read_table(campaign, "cells"), Printed.load()
    captions = {}
    for workload, number in NUMBERS.items():
        captions[f"fig{number}"] = (
            f"Figure {number}: {workload} on a simulated SSD-I, by file system and scheduler."
        )
        captions[f"fig{cemp.NUMBERS[workload]}"] = cemp.caption(cells, workload, printed)
    return report_numbers(campaign, printed.method["paper"], captions)
