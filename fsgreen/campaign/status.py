"""The status of a campaign in lines: its progress, what further blocks gain, invalid trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fsgreen import design, trial
from fsgreen.campaign import outlook
from fsgreen.campaign.pace import Pace
from fsgreen.campaign.state import Campaign
from fsgreen.design import Cell, Plan, PlannedTrial, Trials
from fsgreen.design.imported import decided
from fsgreen.design.overview import blocks_of, spell
from fsgreen.design.owncopy import file_to_change
from fsgreen.words import plural

SHOWN = 5


def status(campaign: Campaign) -> Iterator[str]:
    """Yield the lines that `fsgreen status` prints.

    Raises FsgreenError if there is no such campaign, or one of its trials is damaged.
    """
    if campaign.begun() and "imported" in campaign.identity():
        yield from _imported(campaign)
        return
    plan, pending, trials = campaign.plan(), campaign.pending(), campaign.measured()
    whole, invalid = trial.list_trials(campaign.folder), trial.list_invalid(campaign.folder)
    pace = Pace.of(plan, [*whole, *invalid])
    yield f"{campaign.name}: {_progress(plan, pending, trials)}"
    yield from _to_do(plan, pending, trials, pace)
    yield from _widths(plan, trials, pace)
    for attempt in invalid[:SHOWN]:
        yield f"  invalid   {attempt.folder.name}: {attempt.record.reason}"
    if len(invalid) > SHOWN:
        yield f"            and {len(invalid) - SHOWN} more"
    for exclusion in plan.exclusions:
        yield f"  left out  {exclusion['what']}: {exclusion['why']}"


def _imported(campaign: Campaign) -> Iterator[str]:
    """Yield the lines for imported runs, which cannot continue."""
    plan, imported = campaign.plan(), campaign.identity()["imported"]
    yield (
        f"{campaign.name}: {plural(len(plan.trials), 'run')} of {plural(len(plan.cells), 'cell')}, "
        f"imported from {plural(len(imported['files']), 'file')}: {imported['format']}"
    )
    least = plan.bounds["minimum_trials"]
    counts = Counter(planned.cell for planned in plan.trials)
    if few := [f"{_name(cell)} {count}" for cell, count in counts.items() if count < least]:
        shown = ", ".join(few[:SHOWN]) + (" ..." if len(few) > SHOWN else "")
        of = plural(len(few), "cell")
        yield f"  too few   fewer than {least:g} runs (rule 26) in {of}: {shown}"
    yield from (f"  decided   {line}" for line in decided(imported))
    yield f"  unknown   what such files cannot tell: fsgreen rules --campaign {campaign.name}"


def _progress(plan: Plan, pending: Sequence[PlannedTrial], trials: Trials) -> str:
    due = len(design.due(plan, trials))
    blocks = blocks_of(plan)
    done = f"{due - len(pending)} of {due} trials measured"
    if pending:
        return f"{done}, in block {pending[0].block} (of {blocks})"
    return f"{done}, complete ({plural(blocks, 'block')})"


def _to_do(
    plan: Plan, pending: Sequence[PlannedTrial], trials: Trials, pace: Pace
) -> Iterator[str]:
    if not pending:
        return
    due_s = pace.total_s(planned.cell for planned in pending)
    further_s = outlook.further_s(plan, trials, pace)
    about = "about" if trials else "at least"
    line = f"  to go     {about} {spell(due_s + further_s)}"
    if further_s:
        line += f", of which {spell(further_s)} in blocks that are not decided yet"
    yield line
    for planned in pending[:SHOWN]:
        yield f"  to do     {planned.trial}"
    if len(pending) > SHOWN:
        yield f"            and {len(pending) - SHOWN} more"


def _widths(plan: Plan, trials: Trials, pace: Pace) -> Iterator[str]:
    target = f"\N{PLUS-MINUS SIGN}{plan.bounds['ci_half_width_percent']:g} %"
    ended = Counter(progress.ended for progress in design.progress_of_cells(plan, trials))
    yield (
        f"  ended     {ended['target']} of {len(plan.cells)} cells within {target}, "
        f"{ended['maximum']} because the plan has no more blocks"
    )
    lacking = int(plan.bounds["minimum_trials"]) - plan.profile.last_block
    if lacking > 0:
        yield (
            f"  to gain   {plural(lacking, 'more block')} than planned would bring every cell to "
            f"{plan.bounds['minimum_trials']:g} trials, the fewest for a verdict"
        )
        yield (
            "            a campaign keeps its plan: put a profile with blocks: "
            f"{plan.bounds['minimum_trials']:g} into {file_to_change(plan.study)}, and measure that"
        )
    wide = outlook.prospects(plan, trials, pace)
    for prospect in wide[:SHOWN]:
        state = f"{prospect.metric} is at {prospect.half_width_percent:.3g} %"
        if prospect.needed > plan.profile.last_block:
            state += f"; the plan ends with block {plan.profile.last_block}"
        yield (
            f"  to gain   {plural(prospect.blocks, 'more block')} would bring "
            f"{_name(prospect.cell)} within {target}: {spell(prospect.duration_s)} ({state})"
        )
    if len(wide) > 1:
        most = max(prospect.blocks for prospect in wide)
        yield (
            f"  to gain   {plural(most, 'more block')} would bring all {len(wide)} within "
            f"{target}: {spell(outlook.together_s(plan, wide, pace))}"
        )
    blocks = plan.profile.blocks
    for metric, components in outlook.scatter(plan, trials):
        if components.buys_most != "unknown":
            yield (
                f"  scatter   {metric}: {components.block_percent:.2g} % between blocks, "
                f"{components.trial_percent:.2g} % between trials of a block: "
                f"another {components.buys_most} buys most"
            )
            yield (
                f"            {blocks} blocks bring a cell that scatters so to "
                f"{components.half_width_percent(blocks):.2g} %"
            )


def _name(cell: Cell) -> str:
    levels = (level for level in cell.values() if level != design.DEFAULT)
    return "/".join(f"{level}" for level in levels)
