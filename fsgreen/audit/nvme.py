"""What the program `nvme` of nvme-cli says of the power states of a drive.

NVM Express Base Specification: feature 02h, and the power state descriptors of the controller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

FEATURE = re.compile(rb"get-feature:0x0?2 .*value:(?:0x)?([0-9a-fA-F]{1,8})\s*\n")
"""The output for feature 02h."""

STATE = 0x1F
"""The bits of feature 02h that are the power state; those above hint at the workload."""

RESTS = 1 << 1
"""The bit of a descriptor's `flags` that is set if the drive does no work in the state."""


def feature(answer: bytes) -> int | None:
    """Return feature 02h in the output of `nvme get-feature`; None if it is not there."""
    match = FEATURE.search(answer)
    return None if match is None else int(match[1], 16)


def power_state(answer: bytes) -> int | None:
    """Return the power state in the output of `nvme get-feature`; None if it holds none."""
    value = feature(answer)
    return None if value is None else value & STATE


def working_states(identity: str) -> list[int]:
    """Return the power states in which the drive works, from the JSON of `nvme id-ctrl`.

    A state is left out if the text does not say that the drive works in it.
    """
    try:
        controller = json.loads(identity)
    except (ValueError, RecursionError):
        return []
    states = controller.get("psds") if isinstance(controller, dict) else None
    return [
        number
        for number, state in enumerate(states if isinstance(states, list) else [])
        if isinstance(state, dict) and _works(state)
    ]


def _works(state: Mapping[str, Any]) -> bool:
    """Return whether a descriptor is of a state of work; nvme-cli before 2.6 has flags alone."""
    flags = state.get("flags")
    rests = flags & RESTS if isinstance(flags, int) else None
    return state.get("non-operational_state", rests) == 0
