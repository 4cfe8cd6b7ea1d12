"""The level of each confound in each trial of a campaign, as it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.confounds.known import ALIGNMENT, CACHE, FLIGHT, PLACE, READ_AHEAD, SCHEDULER, SHARING
from fsgreen.design import Cell, Plan
from fsgreen.design.factors import AS_FOUND
from fsgreen.reduce import read_identity, read_plan
from fsgreen.trial import TrialRecord, list_trials

PAGE_B = 4096

UNKNOWN = None
"""The level of a confound that nothing recorded."""

Values = Mapping[str, Any]


def recorded_levels(campaign: str) -> pd.DataFrame:
    """Return a row per valid trial: the level of each factor, and a level for each confound.

    A level is a text. None means that nothing recorded it.
    """
    plan = read_plan(campaign)
    identity = read_identity(campaign)
    testbed = identity["testbed"]
    records = [trial.record for trial in list_trials(paths.raw(campaign))]
    rows = [levels(record, plan, testbed) for record in records]
    return pd.DataFrame(rows, columns=[*plan.levels(plan.baseline), *LEVELS])


def levels(record: TrialRecord, plan: Plan, testbed: Values) -> dict[str, Any]:
    """Return the cell of a trial with every factor named, and the level of each confound."""
    cell = plan.levels(Cell(**record.cell))
    mount = record.mount
    of_confounds = {name: level(cell, mount, record, testbed) for name, level in LEVELS.items()}
    return {**cell, **of_confounds}


def _place(cell: Values, mount: Values, record: TrialRecord, testbed: Values) -> str | None:
    """An image or a partition is a place; inside a directory, a file lies anywhere."""
    if testbed["kind"] == "directory":
        return UNKNOWN
    part = cell.get("partition")
    return "the whole device" if part is None else f"quarter {part}"


def _in_flight(cell: Values, mount: Values, record: TrialRecord, testbed: Values) -> str | None:
    if mount.get("queue_depth") is None:
        return UNKNOWN
    device = cell.get("queue_depth")
    return f"{mount['queue_depth']} in the host" + (f", {device} in the device" if device else "")


def _scheduler(cell: Values, mount: Values, record: TrialRecord, testbed: Values) -> str | None:
    """As declared, which rule 40 checks, except where whatever is found counts."""
    if mount.get("scheduler") is None:
        return UNKNOWN
    declared = cell["scheduler"]
    return str(mount["scheduler"] if declared == AS_FOUND else declared)


def _cache(cell: Values, mount: Values, record: TrialRecord, testbed: Values) -> str | None:
    """As declared, where the check of rule 7 found it so."""
    checks = [check.ok for check in record.checks if check.rule == 7]
    return str(cell["cache"]) if checks and all(checks) else UNKNOWN


def _alignment(cell: Values, mount: Values, record: TrialRecord, testbed: Values) -> str | None:
    """By the block, as every image and partition here begins on a multiple of a MiB."""
    geometry = mount.get("geometry") or {}
    if "block_b" in geometry:
        return f"blocks of {geometry['block_b']} B"
    if testbed["kind"] == "directory":
        return "the one file system"
    # The sectors of btrfs are pages, and its superblock has no other name for them here.
    return f"blocks of {PAGE_B} B" if "node_b" in geometry else UNKNOWN


def _read_ahead(cell: Values, mount: Values, record: TrialRecord, testbed: Values) -> str | None:
    read_ahead_b = (mount.get("geometry") or {}).get("read_ahead_b")
    return UNKNOWN if read_ahead_b is None else f"{read_ahead_b >> 10} KiB"


LEVELS: Mapping[str, Callable[[Values, Values, TrialRecord, Values], str | None]] = {
    PLACE.name: _place,
    FLIGHT.name: _in_flight,
    SCHEDULER.name: _scheduler,
    SHARING.name: _scheduler,
    CACHE.name: _cache,
    ALIGNMENT.name: _alignment,
    READ_AHEAD.name: _read_ahead,
}
