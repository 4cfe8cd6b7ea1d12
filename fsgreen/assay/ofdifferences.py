"""The smallest differences that a plan of a study without claims can tell, and how to buy more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from fsgreen.analysis.claims.assay import ENOUGH
from fsgreen.analysis.planned import Planned, Telling
from fsgreen.assay.duration import more_blocks, time_of
from fsgreen.stats import MIN_BLOCKS


def of_differences(planned: Planned, told: Callable[[Planned], Sequence[Telling]]) -> Iterator[str]:
    """Yield the smallest differences that are told apart, and what more blocks buy."""
    if planned.pilot is None:
        return
    found = told(planned)
    if not found:
        yield "nothing is compared in this plan"
        return
    if planned.blocks < MIN_BLOCKS:
        yield f"fewer than {MIN_BLOCKS} blocks give no interval"
    yield (
        f"told apart with a power of {ENOUGH}, if all cells scatter alike: in any case, and as the "
        "only comparison that is made"
    )
    for one in found:
        label = f"  {one.workload} {one.metric}"
        if math.isnan(one.smallest_percent):
            yield f"{label}: not known"
        else:
            yield (
                f"{label}: {one.smallest_percent:.2g} % among {one.comparisons} comparisons, "
                f"{one.alone_percent:.2g} % alone; ratios are known to "
                f"+-{one.half_width_percent:.2g} %"
            )
    yield "more blocks:"
    for blocks in sorted(more_blocks(planned)):
        smallest = [one.smallest_percent for one in told(planned.under(blocks=blocks))]
        known = [percent for percent in smallest if not math.isnan(percent)]
        span = f"{min(known):.2g} to {max(known):.2g} %" if known else "nothing"
        yield f"  {blocks:5} blocks  {span:18}  {time_of(planned, blocks)}"
