"""Every number and text of the greenfs08 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen.analysis.numbers import report_numbers
from fsgreen.papers.greenfs08.figures import captions
from fsgreen.papers.greenfs08.reference import Printed


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/greenfs08.typ` shows, ready to be written as JSON."""
    return report_numbers(campaign, Printed.load().method["paper"], captions())
