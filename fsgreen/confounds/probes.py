"""The curves of a bare testbed, as `devices.probe` measured them before the first trial."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_plan, simulated_disk

PARTS = ("offset", "queue", "scheduler", "cache", "alignment", "read_ahead")
"""The parts of `confounds.json`. Those of schema 1 had the first two."""

OUTERMOST = 1


def read_probes(campaign: str) -> dict[str, pd.DataFrame]:
    """Return each of `PARTS` as a table; what was not measured is an empty one.

    Raises FsgreenError if the campaign has no probe of its testbed, or its file is damaged.
    """
    file = paths.raw(campaign) / "confounds.json"
    try:
        return tables(json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, AttributeError) as error:
        raise FsgreenError(
            f"no probe of the testbed: {error}",
            where=file,
            next_step="./run reproduce (shipped data), or measure the campaign",
        ) from error


def probe_basis(campaign: str) -> str:
    """Return what the curves of a campaign's bare testbed rest on, for the small print."""
    if simulated_disk(campaign) is None:
        return "measured on the bare testbed"
    return "simulated disk, real time, before the first trial"


def upper_bounds_b_s(probed: Mapping[str, pd.DataFrame], cores_count: int) -> dict[str, float]:
    """Return how many bytes in a second can be had, as far as it was measured (rule 42).

    `device` is the fastest place of the bare device. `memory` is what one core reads from the page
    cache, times the cores: more than that no trial can move. Bus and disk are one to this probe.

    `probed` are the tables of `read_probes`, and `cores_count` the cores of the machine.
    """
    places, caches, bounds = probed["offset"], probed["cache"], {}
    if len(places):
        bounds["device"] = float(places.groupby("offset_b")["bandwidth_b_s"].median().max())
    if len(caches):
        warm = caches[caches["cache"] == "warm"]["bandwidth_b_s"]
        bounds["memory"] = cores_count * float(warm.max())
    return bounds


def probed_place(campaign: str) -> dict[str, Any]:
    """Return the disk that was probed, and the quarter of it, where a campaign has several.

    The probe follows the idle power of each disk of the plan, on the last of them, whose begin is
    that of quarter 1.
    """
    disks = list(dict.fromkeys(cell.get("disk") for cell in read_plan(campaign).cells))
    return {} if disks[-1] is None else {"disk": disks[-1], "partition": OUTERMOST}


def tables(probed: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return the parts of what `devices.probe.probe` found as tables."""
    return {name: pd.DataFrame(probed.get(name) or []) for name in PARTS}
