"""What a plan can decide, of claims or of differences, and how to buy more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.assay import ENOUGH
from fsgreen.analysis.planned import (
    BAR,
    Planned,
    Prospect,
    Telling,
    blocks_for,
    prospects,
    widest_percent,
)
from fsgreen.analysis.planned.parts import MOST_BLOCKS
from fsgreen.design.overview import bound_of, spell
from fsgreen.stats import MIN_BLOCKS
from fsgreen.words import listed, plural

SOME = 6
"""Names of claims or cells that a line lists before it counts the others."""

STEPS = 4
"""How often blocks are doubled in the table of what more of them buy."""


def of_claims(claims: Claims, planned: Planned) -> Iterator[str]:
    """Yield how many parts of claims are decided, what more time buys, and what hinders others."""
    parts = prospects(claims, planned)
    every = [prospect for prospect in parts if prospect.decidable]
    two = [prospect for prospect in every if prospect.two_sided]
    if planned.pilot is None:
        yield from _widths(two)
    elif two:
        yield from _reached(two, planned)
        yield from _blocks(two, planned)
        yield from _windows(claims, two, planned)
        yield from _fewer_cells(claims, two, planned)
        yield from _short(two, planned.blocks)
    else:
        yield "no claim on these cells has two ends"
    yield from _one_sided([prospect for prospect in every if not prospect.two_sided], planned)
    yield from _lacking(prospect for prospect in parts if not prospect.decidable)
    if checks := [slug for slug, entry in claims.entries.items() if entry.check]:
        yield (
            f"{plural(len(checks), 'claim')} are tested by the study's own code, so nothing is "
            f"forecast for them: {listed(checks, SOME)}"
        )


def _reached(two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    count = _decided(two, planned.blocks)
    opened = _decided((prospect for prospect in two if prospect.state_open), planned.blocks)
    only = f", {opened} of them only if trials are in the state of the claim" if opened else ""
    yield (
        f"{count} of {plural(len(two), 'part')} of claims with two ends {_share(count, two)} have "
        f'a power of {ENOUGH} or more{only}: the probability of "reproduced" if the published '
        f"number is exactly right. {100 * BAR:.0f} % should have it before anything is measured"
    )


def _share(count: int, two: Sequence[Prospect]) -> str:
    return f"({100 * count / len(two):.0f} %)"


def _decided(two: Iterable[Prospect], blocks: int) -> int:
    return sum(prospect.power(blocks) >= ENOUGH for prospect in two)


def _blocks(two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    """Yield what more blocks buy, with their time."""
    enough, counts = blocks_for(two, BAR), more_blocks(planned)
    yield "more blocks:"
    for blocks in sorted(counts if enough is None else counts | {enough}):
        count = _decided(two, blocks)
        told = f"{count:4} of {len(two)} parts {_share(count, two):7}"
        yield f"  {blocks:5} blocks  {told}  {time_of(planned, blocks)}"
    if enough is None:
        yield f"  even {MOST_BLOCKS} blocks do not decide {100 * BAR:.0f} % of the parts"


def _windows(claims: Claims, two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    """Yield what windows buy: more of them, or cells that take turns at all."""
    windows, pilot = planned.plan.profile.windows, planned.pilot
    assert pilot is not None
    if windows is not None and pilot.turns:
        more = planned.under(windows=replace(windows, count=2 * windows.count))
        count = _decided_of(claims, more)
        yield (
            f"twice the windows of each trial: {count} of {len(two)} parts, "
            f"{time_of(more, more.blocks)}"
        )
    elif windows is None and pilot.left_x:
        calmer = {name: min(1.0, share) for name, share in pilot.left_x.items()}
        count = _decided_of(claims, planned.under(narrower=calmer))
        left = ", ".join(f"{name} {100 * share:.0f} %" for name, share in sorted(calmer.items()))
        yield (
            f"cells that take turns in windows: up to {count} of {len(two)} parts, if trials "
            f"scatter with the machine's time and not with each mkfs; intervals would "
            f"keep this share of their width: {left} (docs/studies.md has `windows`)"
        )


def _fewer_cells(claims: Claims, two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    """Yield what the plan without cells that no claim asks for would decide in the same time."""
    needed = {*planned.asked, planned.plan.baseline.label}
    spare = [cell.label for cell in planned.cells if cell.label not in needed]
    if not spare:
        yield "every cell is one that a claim asks for"
        return
    fewer = planned.under(labels=needed)
    blocks = int(planned.blocks * block_s(planned) / block_s(fewer))
    count = _decided_of(claims, fewer.under(blocks=blocks))
    yield (
        f"without the {plural(len(spare), 'cell')} that no selector of a claim names, in the same "
        f"time: {blocks} blocks, {count} of {len(two)} parts (a check of the study's own code may "
        f"need some: {listed(spare)})"
    )


def _decided_of(claims: Claims, planned: Planned) -> int:
    parts = (
        prospect
        for prospect in prospects(claims, planned)
        if prospect.decidable and prospect.two_sided
    )
    return _decided(parts, planned.blocks)


def _short(two: Sequence[Prospect], blocks: int) -> Iterator[str]:
    """Yield the parts with too little power, by what hinders."""
    short = [prospect for prospect in two if not prospect.power(blocks) >= ENOUGH]
    asked = [prospect for prospect in short if not prospect.out_of_state]
    unknown = [prospect for prospect in asked if math.isnan(prospect.power(blocks))]
    known = [prospect for prospect in asked if prospect not in unknown]
    yield from _listed(
        "too few blocks",
        sorted(
            (prospect for prospect in known if prospect.blocks is not None),
            key=lambda prospect: prospect.blocks or 0,
        ),
        blocks,
    )
    yield from _listed(
        f"even {MOST_BLOCKS} blocks are not enough: the cells scatter too much for this number",
        [prospect for prospect in known if prospect.blocks is None],
        blocks,
    )
    yield from _listed("the pilot has no trials that tell the scatter of these", unknown, blocks)
    yield from _states(
        "in another state than the claim is about, by the pilot or by the plan",
        [prospect for prospect in short if prospect.out_of_state],
    )
    yield from _states(
        "nothing tells whether trials will be in the state of the claim",
        [prospect for prospect in two if prospect.state_open],
    )


def _listed(title: str, short: Sequence[Prospect], blocks: int) -> Iterator[str]:
    if not short:
        return
    yield f"{plural(len(short), 'part')}: {title}:"
    for prospect in short:
        power = prospect.power(blocks)
        told = "    " if math.isnan(power) else f"{power:.2f}"
        takes = f", {prospect.blocks} blocks are enough" if prospect.blocks is not None else ""
        yield f"  {told}  {prospect.slug}: {prospect.part.what}{takes}"


def _states(title: str, short: Sequence[Prospect]) -> Iterator[str]:
    """Yield the states that claims are about, each with what it takes to get there."""
    if not short:
        return
    yield f"{plural(len(short), 'part')}: {title}:"
    slugs: dict[tuple[str, str], dict[str, int]] = {}
    for prospect in short:
        states = prospect.part.found
        told = [state for state in states if prospect.state_open or not math.isnan(state.low)]
        for says, way in dict.fromkeys((state.says, state.way) for state in told):
            counted = slugs.setdefault((says, way), Counter())
            counted[prospect.slug] += 1
    for (says, way), counted in slugs.items():
        names = [f"{slug} ({count})" if count > 1 else slug for slug, count in counted.items()]
        yield f"  {says}: {listed(names, SOME)} -> {way}"


def _one_sided(one_sided: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    if one_sided and planned.pilot is not None:
        count = _decided(one_sided, planned.blocks)
        yield (
            f"of {plural(len(one_sided), 'part')} with one end, such as an order, {count} have "
            "this power, if they are right by as much as counts as a difference"
        )


def _lacking(undecidable: Iterable[Prospect]) -> Iterator[str]:
    """Yield what other parts would take, those first that most parts lack."""
    lacks, needs = Counter[str](), Counter[str]()
    for prospect in undecidable:
        lacks.update(prospect.part.lacks)
        if prospect.part.needs:
            needs[prospect.part.needs] += 1
    if lacks:
        told = [f"{cell} ({count})" for cell, count in lacks.most_common()]
        yield f"cells that claims name and this plan lacks, by parts: {listed(told, SOME)}"
    for need, count in needs.most_common():
        yield f"{plural(count, 'part')} would take more: {need}"


def _widths(two: Sequence[Prospect]) -> Iterator[str]:
    """Yield how narrow intervals must be, where nobody knows how wide they will."""
    widths = [
        widest_percent(prospect.part.band, prospect.bound)
        for prospect in two
        if prospect.part.band is not None
    ]
    known = sorted(width for width in widths if math.isfinite(width))
    if not known:
        return
    wanted = known[-math.ceil(BAR * len(known))]
    yield (
        f"{plural(len(known), 'part')} of claims with two ends have a power of {ENOUGH} with "
        f"intervals of +-{known[0]:.2g} to {known[-1]:.2g} %; "
        f"{100 * BAR:.0f} % of them with +-{wanted:.2g} %"
    )


def of_differences(planned: Planned, told: Callable[[Planned], Sequence[Telling]]) -> Iterator[str]:
    """Yield the smallest differences that are told apart, and what more blocks buy."""
    if planned.pilot is None:
        return
    tellings = told(planned)
    if not tellings:
        yield "nothing is compared in this plan"
        return
    if planned.blocks < MIN_BLOCKS:
        yield f"fewer than {MIN_BLOCKS} blocks give no interval"
    yield (
        f"differences found with a power of {ENOUGH}, if all cells scatter alike: among all "
        "comparisons, and as the only one"
    )
    for telling in tellings:
        label = f"  {telling.workload} {telling.metric}"
        if math.isnan(telling.smallest_percent):
            yield f"{label}: not known"
        else:
            yield (
                f"{label}: {telling.smallest_percent:.2g} % among {telling.comparisons} "
                f"comparisons, {telling.alone_percent:.2g} % alone; ratios are known to "
                f"+-{telling.half_width_percent:.2g} %"
            )
    yield "more blocks:"
    for blocks in sorted(more_blocks(planned)):
        smallest = [telling.smallest_percent for telling in told(planned.under(blocks=blocks))]
        known = [percent for percent in smallest if not math.isnan(percent)]
        span = f"{min(known):.2g} to {max(known):.2g} %" if known else "nothing"
        yield f"  {blocks:5} blocks  {span:18}  {time_of(planned, blocks)}"


def more_blocks(planned: Planned) -> set[int]:
    """Return the numbers of blocks of that table: those of the plan, and more."""
    first = max(planned.blocks, MIN_BLOCKS)
    return {planned.blocks, *(first * 2**step for step in range(STEPS + 1))}


def time_of(planned: Planned, blocks: int) -> str:
    """Return in words how long blocks take: by the pilot, else what is declared of them."""
    about = "about"
    if planned.pilot is None or planned.pilot.pace is None:
        about = bound_of(planned.plan)
    return f"{about} {spell(blocks * block_s(planned))}"


def block_s(planned: Planned) -> float:
    """Return how long a block takes, in seconds."""
    plan, cells = planned.plan, planned.cells
    known_s = None if planned.pilot is None else planned.pilot.block_s(plan, cells)
    return plan.profile.least_trial_s * len(cells) if known_s is None else known_s
