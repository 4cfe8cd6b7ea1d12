"""Rule 8: was the device below the file system in the state that the plan declares?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fsgreen.rules.answer import Answer, fired, named_trials, quiet, unknown
from fsgreen.rules.evidence import Evidence
from fsgreen.trial import TrialRecord
from fsgreen.words import listed, plural

NO_STATE = {
    "simdisk": "no state to restore on a simulated disk, which remembers no writes",
    "in_memory": "no state to restore in memory",
    "rotational": "no state to restore on a disk that calls itself rotating",
}
"""Testbeds whose device has no state that trials change: their kind, or a key of their
description, and why."""


def device_state(evidence: Evidence) -> Answer:
    """Rule 8: the plan declares the state of the device, and each trial checks it."""
    levels = {evidence.level(record, "device") for record in evidence.records}
    if None in levels:
        return fired("the plan holds the device's state neither constant nor as a factor")
    if old := [record.trial for record in evidence.records if not record.mount.get("mkfs")]:
        return fired(
            f"declared {listed(map(str, levels))}, but the file system was taken as it was in "
            f"{named_trials(old)}"
        )
    if failed := evidence.failed(8):
        return fired(f"another state than declared in {named_trials(failed)}")
    if young := _aged_too_little(evidence.records):
        return fired(
            f"aged less than asked for, so not as others are, in {plural(len(young), 'cell')}: "
            + "; ".join(f"{cell} ({found})" for cell, found in sorted(young.items()))
        )
    checked = evidence.checked(8)
    said = " and ".join(sorted(map(str, levels)))
    if len(checked) < len(evidence.records):
        return unknown(
            f"declared {said}, with mkfs before each trial; what the device below had been through "
            f"is recorded for {len(checked)} of {len(evidence.records)} trials"
        )
    return _restored(said, checked, evidence)


def _restored(said: str, checked: Mapping[str, str], evidence: Evidence) -> Answer:
    """Return the answer for checked trials: in how many the device was restored, or why not."""
    testbed = evidence.identity["testbed"]
    states = {record.trial: _state_of(record, testbed) for record in evidence.records}
    left: dict[str, list[str]] = defaultdict(list)
    for trial, state in states.items():
        if state["left"] is not None:
            left[state["left"]].append(trial)
    why = [f"{reason} ({plural(len(trials), 'trial')})" for reason, trials in left.items()]
    if whole := [trial for trial, state in states.items() if state["left"] is None]:
        how = checked[whole[0]]
        why.insert(0, f"verified in {plural(len(whole), 'trial')}, such as: {how}")
    text = f"declared {said}: {'; '.join(why)}"
    if any(state["remembers"] for state in states.values()):
        return fired(text)
    if any(state["remembers"] is None for state in states.values()):
        return unknown(text)
    return quiet(text)


def _state_of(record: TrialRecord, testbed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return why a trial did not restore the device (`left`), and whether it `remembers` writes.

    `left` is None if it did. Only the state `initial` can leave a device as it is: the others write
    all of it. For records older than these keys, the kernel's counters and the testbed's
    description tell.
    """
    state = record.mount.get("state") or {}
    if state.get("name", "initial") != "initial":
        return {"left": None, "remembers": False}
    if "left" in state:
        return {"left": state["left"], "remembers": state["remembers"]}
    if "size_b" in testbed and state.get("discarded_b", 0) >= testbed["size_b"]:
        return {"left": None, "remembers": False}
    for known, why in NO_STATE.items():
        if testbed["kind"] == known or testbed.get(known):
            return {"left": why, "remembers": False}
    return {"left": "not restored in full, and no record says why", "remembers": None}


def _aged_too_little(records: Sequence[TrialRecord]) -> dict[str, str]:
    """Return the aged cells that were aged too little, with the worst layout score of each."""
    worst: dict[str, Mapping[str, float]] = {}
    for record in records:
        layout = record.mount.get("fragmentation") or {}
        shortfall_x, cell = layout.get("shortfall_x", 0.0), cell_of(record)
        if shortfall_x > worst.get(cell, {}).get("shortfall_x", 0.0):
            worst[cell] = layout
    return {
        cell: f"layout score {layout['layout_score_x']:.3f}, asked for "
        f"{layout['target_layout_score_x']:g} at most"
        for cell, layout in worst.items()
    }


def cell_of(record: TrialRecord) -> str:
    """Return the levels of a trial's cell in one line."""
    return " ".join(map(str, record.cell.values()))
