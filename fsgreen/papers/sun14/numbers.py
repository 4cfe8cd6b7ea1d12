"""Every number and text of the sun14 report that comes from data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fsgreen.analysis.numbers import report_numbers
from fsgreen.papers.sun14 import cemp
from fsgreen.papers.sun14.figures import NUMBERS
from fsgreen.papers.sun14.reference import OF_A_GUEST, Printed
from fsgreen.reduce import in_guest, read_identity, read_table


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/sun14.typ` shows, ready to be written as JSON."""
    cells, printed = read_table(campaign, "cells"), Printed.load()
    captions = {}
    for workload, number in NUMBERS.items():
        captions[f"fig{number}"] = (
            f"Figure {number}: {workload} on a simulated SSD-I, by file system and scheduler."
        )
        captions[f"fig{cemp.NUMBERS[workload]}"] = cemp.caption(cells, workload, printed)
    return {
        **report_numbers(campaign, printed.method["paper"], captions),
        "open": without_verdict(set(cells["file_system"]), in_guest(read_identity(campaign))),
    }


def without_verdict(ran: Collection[str], guest: bool) -> str:
    """Return on which file systems and drives claims have no verdict from trials, and why.

    `ran` are the file systems of the campaign; `guest` is whether it was measured in a guest.
    """
    said = ["Claims about the two other SSDs have no verdict from trials."]
    lacking = [name for level, name in OF_A_GUEST.items() if level not in ran]
    there = [name for level, name in OF_A_GUEST.items() if level in ran]
    parts = "Nor have claims, as far as they are about"
    if lacking:
        said.append(f"{parts} {' and '.join(lacking)}, which this campaign lacks.")
    if there and guest:
        said.append(
            f"{parts} {' and '.join(there)}: this campaign has them, but in a guest, and rates of "
            "a guest's processor decide no claim of print."
        )
    return " ".join(said)
