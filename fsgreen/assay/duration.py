"""How long blocks of a plan take."""

from __future__ import annotations

from fsgreen.analysis.planned import Planned
from fsgreen.design.overview import spell
from fsgreen.stats import MIN_BLOCKS

STEPS = 4
"""How often blocks are doubled in the table of what more of them buy."""


def more_blocks(planned: Planned) -> set[int]:
    """Return the numbers of blocks of that table: those of the plan, and more."""
    first = max(planned.blocks, MIN_BLOCKS)
    return {planned.blocks, *(first * 2**step for step in range(STEPS + 1))}


def time_of(planned: Planned, blocks: int) -> str:
    """Return in words how long blocks take: by the pilot, else what is declared of them."""
    about = "at least " if planned.pilot is None or planned.pilot.pace is None else "about "
    return about + spell(blocks * block_s(planned))


def block_s(planned: Planned) -> float:
    """Return how long a block takes, in seconds."""
    plan, cells = planned.plan, planned.cells
    known_s = None if planned.pilot is None else planned.pilot.block_s(plan, cells)
    return plan.profile.least_trial_s * len(cells) if known_s is None else known_s
