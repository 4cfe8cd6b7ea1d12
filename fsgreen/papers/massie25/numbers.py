"""Every number and text of the massie25 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen.analysis.numbers import report_numbers
from fsgreen.papers.massie25.figures import LEVELS, with_cells
from fsgreen.papers.massie25.reference import Printed
from fsgreen.reduce import read_table

GROUPS = "Section IV-D: random writes on xfs by its number of allocation groups."


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/massie25.typ` shows, ready to be written as JSON."""
    drawn = with_cells(read_table(campaign, "cells"))
    captions = {name: _caption(name) for name in drawn}
    shared = report_numbers(campaign, Printed.load().method["paper"], captions)
    without = [name.removeprefix("fig") for name in LEVELS if name not in drawn]
    lacking = f"figures {', '.join(without)} of the paper: this campaign has none of their cells"
    return {
        **shared,
        "not_run": [*shared["not_run"], *([lacking] if without else [])],
    }


def _caption(name: str) -> str:
    levels = LEVELS.get(name)
    if levels is None:
        return GROUPS
    number = name.removeprefix("fig")
    if "threads" in levels:
        return (
            f"Figure {number}: RocksDB by YCSB's workload, {_count(levels['threads'], 'thread')}."
        )
    processes = _count(levels["processes"], "process", "es")
    return f"Figure {number}: requests of {levels['request_kib']} KiB by {processes}."


def _count(count: int, of: str, plural: str = "s") -> str:
    return f"one {of}" if count == 1 else f"{count} {of}{plural}"
