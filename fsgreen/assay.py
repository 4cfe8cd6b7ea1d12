"""What a plan can decide before it is measured, in lines: `fsgreen plan --assay` (rule 46)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from fsgreen import papers, paths
from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.assay import ENOUGH
from fsgreen.analysis.claims.ledger import VIRTUAL
from fsgreen.analysis.comparisons import comparisons_of, treatments_of
from fsgreen.analysis.planned import (
    BAR,
    Pilot,
    Planned,
    Prospect,
    Telling,
    blocks_for,
    prospects,
    tellings,
    widest_percent,
)
from fsgreen.analysis.planned.parts import MOST_BLOCKS
from fsgreen.design import Plan, Study
from fsgreen.design.overview import blocks_of, spell
from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_plan
from fsgreen.rules.answer import listed, plural
from fsgreen.stats import MIN_BLOCKS

STEPS = 4
"""How often blocks are doubled in the table of what more of them buy."""

SOME = 6
"""Names of claims or cells that a line lists before it counts the others."""


def lines(study: Study, plan: Plan, pilot: str | None = None) -> Iterator[str]:
    """Yield what a plan can decide, and how to buy more.

    Parameters
    ----------
    study : Study
        Of which the plan is.
    plan : Plan
        The plan.
    pilot : str, optional
        The campaign whose trials scatter as its own will; without a name the one of the study that
        has measured most of its cells here.

    Raises
    ------
    FsgreenError
        If the pilot is of another study, or has not been analysed.
    """
    room = papers.room(study.name, "claims")
    claims: Claims = room.claims_of(study.name)
    name = pilot or _likeliest(plan)
    known = None if name is None else _pilot(name, plan, claims, room.sources_of)
    comparisons = comparisons_of(study, plan)
    planned = Planned.of(plan, known, claims.needs, treatments_of(study, comparisons))
    yield (
        f"{plan.study}, profile {plan.profile.name}: what {blocks_of(plan)} blocks of "
        f"{plural(len(planned.cells), 'cell')} can decide (rule 46)"
    )
    yield from _basis(planned)
    if claims.stated:
        yield from _of_claims(claims, planned)
    else:
        told = partial(tellings, comparisons=comparisons, metrics=study.metrics)
        yield from _of_differences(planned, told)


def _likeliest(plan: Plan) -> str | None:
    """Return the campaign of a study with most cells of a plan, the last of several."""
    files = sorted(
        (paths.data() / "results").glob("*/trials.csv"), key=lambda file: file.stat().st_mtime
    )
    shared = {}
    for file in files:
        name = file.parent.name
        if (paths.raw(name) / "plan.json").is_file() and read_plan(name).study == plan.study:
            shared[name] = len({*read_plan(name).cells} & {*plan.cells})
    return max(reversed([*shared]), key=lambda name: shared[name], default=None)


def _pilot(name: str, plan: Plan, claims: Claims, sources_of: Callable[..., object]) -> Pilot:
    if (study := read_plan(name).study) != plan.study:
        raise FsgreenError(
            f"{name} is a campaign of {study}: its trials tell nothing of {plan.study}",
            next_step="fsgreen list campaigns, and name one of this study",
        )
    sources = sources_of(name, claims)
    assert isinstance(sources, dict)
    testbed, source = next(pair for pair in sources.items() if pair[0] != VIRTUAL)
    return Pilot.of(name, testbed, source)


def _basis(planned: Planned) -> Iterator[str]:
    """Yield what is known of the scatter, and how long the plan takes."""
    plan, pilot = planned.plan, planned.pilot
    if pilot is None:
        yield (
            "no campaign of this study has been analysed here, so nobody knows how far its trials "
            f"scatter: measure a pilot of two blocks (fsgreen measure {plan.study} --profile "
            f"PROFILE --name {plan.study}-pilot), then ask again"
        )
    else:
        profile = pilot.plan.profile
        yield (
            f"how far trials scatter is that of {pilot.name} (profile {profile.name}, "
            f"{blocks_of(pilot.plan)} blocks, on {pilot.testbed}); --pilot CAMPAIGN takes another"
        )
        if profile.windows is not None and plan.profile.windows is None:
            yield "note: its cells took turns and these do not, so that these will scatter more"
    profile = plan.profile
    least, most = (_time(planned, blocks) for blocks in (profile.blocks, profile.last_block))
    takes = least if least == most else f"{least} to {most}"
    yield f"time: {takes}"
    if profile.sequential:
        yield (
            f"told for {profile.blocks} blocks, which each cell has at least; cells whose own "
            f"interval is wide then get up to {profile.last_block}"
        )


def _time(planned: Planned, blocks: int) -> str:
    """Return in words how long blocks take: by the pilot, else what is declared of them."""
    block_s = _block_s(planned)
    about = "at least " if planned.pilot is None or planned.pilot.pace is None else "about "
    return about + spell(blocks * block_s)


def _block_s(planned: Planned) -> float:
    plan, cells = planned.plan, planned.cells
    known_s = None if planned.pilot is None else planned.pilot.block_s(plan, cells)
    return plan.profile.least_trial_s * len(cells) if known_s is None else known_s


# --- a study with claims ------------------------------------------------------------------------


def _of_claims(claims: Claims, planned: Planned) -> Iterator[str]:
    found = prospects(claims, planned)
    every = [one for one in found if one.decidable]
    two = [one for one in every if one.two_sided]
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
    yield from _one_sided([one for one in every if not one.two_sided], planned)
    yield from _lacking(one for one in found if not one.decidable)
    if checks := [slug for slug, entry in claims.entries.items() if entry.check]:
        yield (
            f"{plural(len(checks), 'claim')} put to the test by the study's own code, of which "
            f"nothing is foreseen: {listed(checks, SOME)}"
        )


def _reached(two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    count = _decided(two, planned.blocks)
    opened = sum(one.state_open and one.power(planned.blocks) >= ENOUGH for one in two)
    only = f", {opened} of them only if trials are in the state of the claim" if opened else ""
    yield (
        f"{count} of {plural(len(two), 'part')} of claims with two ends {_share(count, two)} have "
        f'a power of {ENOUGH} or more{only}: the probability of "reproduced" if the published '
        f"number is exactly right. {100 * BAR:.0f} % should have it before anything is measured"
    )


def _share(count: int, two: Sequence[Prospect]) -> str:
    return f"({100 * count / len(two):.0f} %)"


def _decided(two: Iterable[Prospect], blocks: int) -> int:
    return sum(one.power(blocks) >= ENOUGH for one in two)


def _blocks(two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    """Yield what more blocks buy, with their time."""
    first = max(planned.blocks, MIN_BLOCKS)
    enough = blocks_for(two, BAR)
    counts = {planned.blocks, *(first * 2**step for step in range(STEPS + 1))}
    yield "more blocks:"
    for blocks in sorted(counts if enough is None else counts | {enough}):
        count = _decided(two, blocks)
        told = f"{count:4} of {len(two)} parts {_share(count, two):7}"
        yield f"  {blocks:5} blocks  {told}  {_time(planned, blocks)}"
    if enough is None:
        yield f"  no {MOST_BLOCKS} blocks bring {100 * BAR:.0f} % of the parts there"


def _windows(claims: Claims, two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    """Yield what windows buy: more of them, or cells that take turns at all."""
    windows, pilot = planned.plan.profile.windows, planned.pilot
    assert pilot is not None
    if windows is not None and pilot.turns:
        more = planned.under(windows=replace(windows, count=2 * windows.count))
        count = _decided_of(claims, more)
        yield (
            f"twice the windows of each trial: {count} of {len(two)} parts, "
            f"{_time(more, more.blocks)}"
        )
    elif windows is None and pilot.left_x:
        calmer = {name: min(1.0, share) for name, share in pilot.left_x.items()}
        count = _decided_of(claims, planned.under(narrower=calmer))
        left = ", ".join(f"{name} {100 * share:.0f} %" for name, share in sorted(calmer.items()))
        yield (
            f"cells that take turns in windows: up to {count} of {len(two)} parts, if what "
            f"scatters is the machine's time and not how each file system came out; of the width "
            f"would be left: {left} (docs/studies.md has `windows`)"
        )


def _fewer_cells(claims: Claims, two: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    """Yield what the plan without cells that no claim asks for would decide in the same time."""
    needed = {*planned.asked, planned.plan.baseline.label}
    spare = [cell.label for cell in planned.cells if cell.label not in needed]
    if not spare:
        yield "every cell is one that a claim asks for"
        return
    fewer = planned.under(labels=needed)
    blocks = int(planned.blocks * _block_s(planned) / _block_s(fewer))
    count = _decided_of(claims, fewer.under(blocks=blocks))
    yield (
        f"without the {plural(len(spare), 'cell')} that no selector of a claim names, in the same "
        f"time: {blocks} blocks, {count} of {len(two)} parts (a check of the study's own code may "
        f"need some: {listed(spare)})"
    )


def _decided_of(claims: Claims, planned: Planned) -> int:
    parts = (one for one in prospects(claims, planned) if one.decidable and one.two_sided)
    return _decided(parts, planned.blocks)


def _short(two: Sequence[Prospect], blocks: int) -> Iterator[str]:
    """Yield the parts with too little power, by what hinders."""
    short = [one for one in two if not one.power(blocks) >= ENOUGH]
    asked = [one for one in short if not one.out_of_state]
    unknown = [one for one in asked if math.isnan(one.power(blocks))]
    known = [one for one in asked if one not in unknown]
    yield from _listed(
        "too few blocks",
        sorted((one for one in known if one.blocks is not None), key=lambda one: one.blocks or 0),
        blocks,
    )
    yield from _listed(
        f"more than {MOST_BLOCKS} blocks would not do: the cells scatter too much for this number",
        [one for one in known if one.blocks is None],
        blocks,
    )
    yield from _listed("the pilot has no trials that tell how far these scatter", unknown, blocks)
    yield from _states(
        "in another state than the claim is about, as the pilot was or as the plan has it",
        [one for one in short if one.out_of_state],
    )
    yield from _states(
        "nothing tells whether trials will be in the state of the claim",
        [one for one in two if one.state_open],
    )


def _listed(title: str, short: Sequence[Prospect], blocks: int) -> Iterator[str]:
    if not short:
        return
    yield f"{plural(len(short), 'part')}: {title}:"
    for one in short:
        power = one.power(blocks)
        told = "    " if math.isnan(power) else f"{power:.2f}"
        takes = f", {one.blocks} blocks do" if one.blocks is not None else ""
        yield f"  {told}  {one.slug}: {one.part.what}{takes}"


def _states(title: str, short: Sequence[Prospect]) -> Iterator[str]:
    """Yield the states that claims are about, each with what it takes to get there."""
    if not short:
        return
    yield f"{plural(len(short), 'part')}: {title}:"
    slugs: dict[tuple[str, str], dict[str, int]] = {}
    for one in short:
        told = [found for found in one.part.found if one.state_open or not math.isnan(found.low)]
        for says, way in dict.fromkeys((found.says, found.way) for found in told):
            counted = slugs.setdefault((says, way), Counter())
            counted[one.slug] += 1
    for (says, way), counted in slugs.items():
        names = [f"{slug} ({count})" if count > 1 else slug for slug, count in counted.items()]
        yield f"  {says}: {listed(names, SOME)} -> {way}"


def _one_sided(one_sided: Sequence[Prospect], planned: Planned) -> Iterator[str]:
    if one_sided and planned.pilot is not None:
        count = _decided(one_sided, planned.blocks)
        yield (
            f"of {plural(len(one_sided), 'part')} with one end, such as an order, {count} have it, "
            "were they right by as much as counts as a difference"
        )


def _lacking(found: Iterable[Prospect]) -> Iterator[str]:
    """Yield what other parts would take, those first that most parts lack."""
    lacks, needs = Counter[str](), Counter[str]()
    for one in found:
        lacks.update(one.part.lacks)
        if one.part.needs:
            needs[one.part.needs] += 1
    if lacks:
        told = [f"{cell} ({count})" for cell, count in lacks.most_common()]
        yield f"cells that claims name and this plan lacks, by parts: {listed(told, SOME)}"
    for need, count in needs.most_common():
        yield f"{plural(count, 'part')} would take more: {need}"


def _widths(two: Sequence[Prospect]) -> Iterator[str]:
    """Yield how narrow intervals must be, where nobody knows how wide they will."""
    widths = [widest_percent(one.part.band, one.bound) for one in two if one.part.band is not None]
    known = sorted(width for width in widths if math.isfinite(width))
    if not known:
        return
    wanted = known[-math.ceil(BAR * len(known))]
    yield (
        f"{plural(len(known), 'part')} of claims with two ends have a power of {ENOUGH} with "
        f"intervals of +-{known[0]:.2g} to {known[-1]:.2g} %; "
        f"{100 * BAR:.0f} % of them with +-{wanted:.2g} %"
    )


# --- a study without claims ---------------------------------------------------------------------


def _of_differences(
    planned: Planned, told: Callable[[Planned], Sequence[Telling]]
) -> Iterator[str]:
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
    first = max(planned.blocks, MIN_BLOCKS)
    for blocks in sorted({planned.blocks, *(first * 2**step for step in range(STEPS + 1))}):
        smallest = [one.smallest_percent for one in told(planned.under(blocks=blocks))]
        known = [percent for percent in smallest if not math.isnan(percent)]
        span = f"{min(known):.2g} to {max(known):.2g} %" if known else "nothing"
        yield f"  {blocks:5} blocks  {span:18}  {_time(planned, blocks)}"
