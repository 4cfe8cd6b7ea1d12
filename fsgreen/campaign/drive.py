"""Runs a campaign: measures each pending trial of its plan, whole or not at all; can be resumed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tqdm.auto import tqdm

from fsgreen import design, trial
from fsgreen.campaign.context import TrialContext, open_context
from fsgreen.campaign.fitting import check_turns, load_workloads
from fsgreen.campaign.machine import machine_alone
from fsgreen.campaign.onetrial import run_trial
from fsgreen.campaign.pace import Pace
from fsgreen.campaign.pulses import LoadPulses
from fsgreen.campaign.refused import refusal
from fsgreen.campaign.state import Campaign
from fsgreen.campaign.windows import run_group
from fsgreen.design import Group, Plan
from fsgreen.design.overview import spell
from fsgreen.meters import open_meters, simdisk
from fsgreen.preflight import Finding
from fsgreen.testbeds import Testbed

ATTEMPTS = 3
"""Most attempts at a trial in one start. After these, the campaign continues without it."""

COPIES = 5
"""Most failed attempts at a trial over all starts. After these, it is left out."""

IN_A_ROW = 10
"""If this many trials in a row are given up, the campaign stops, as that is no accident."""

BAR_FORMAT = "{desc}: {n_fmt} of {total_fmt} |{bar}| {elapsed}{postfix}"


def run(
    plan: Plan,
    name: str,
    *,
    testbed: Testbed,
    meters: Sequence[Mapping[str, Any]] | None = None,
    pulses: bool = False,
    preflight: Sequence[Finding] | None = None,
    beside: Sequence[Testbed] = (),
    blocks: Collection[int] | None = None,
    at_rest: Callable[[], object] | None = None,
) -> Campaign:
    """Measure the pending trials of a plan into the campaign `name`, which accepts no other plan.

    `meters` are the `[[meter]]` tables of a testbed file, by default the emulated pair. `pulses`
    makes load pulses before the first trial, after the last, and about every hour in between (rule
    17). `preflight` has the findings before this start, for the record (rule 10). If the plan has
    windows, `beside` has a testbed of the same kind for each further trial that is ready at once.
    Only `blocks` are measured if given. `at_rest` is called between trials, while nothing is
    measured, and may change them. The caller closes the testbed.

    Raises FsgreenError if something stops the campaign. The whole trials so far are kept. Raises
    NotAll if some trials broke a rule in each attempt. All others are measured.
    """
    workloads = load_workloads(plan, testbed)
    check_turns(plan, workloads, (testbed, *beside))
    campaign = Campaign(name, blocks)
    with campaign.alone(), machine_alone(), campaign.in_place():
        campaign.adopt(plan)
        campaign.check_testbed(testbed.describe())
        trial.sweep(campaign.folder)
        campaign.note_stopping()
        if not campaign.pending():
            return campaign
        opened = open_meters(_tables(meters, testbed), testbed.device_name)
        try:
            context = open_context(
                campaign, plan, testbed, opened, workloads, pulses=pulses, beside=beside
            )
            if preflight is not None:
                campaign.note_preflight(preflight)
            marks = LoadPulses(campaign.note_pulses) if pulses else None
            if marks is not None:
                marks.make()
            refused = _measure(context, marks, at_rest)
            if marks is not None:
                marks.make()
        finally:
            for meter in opened.values():
                meter.close()
    if refused:
        raise refusal(campaign, f"{len(refused)} of {len(campaign.due())} trials", refused, COPIES)
    return campaign


def _tables(
    meters: Sequence[Mapping[str, Any]] | None, testbed: Testbed
) -> Sequence[Mapping[str, Any]] | None:
    """Return the tables of the meters. Those of a simulated disk's meters name its socket."""
    simulator = testbed.simulator()
    return meters if simulator is None else simdisk.tables(meters, simulator.path)


def _measure(
    context: TrialContext, marks: LoadPulses | None, at_rest: Callable[[], object] | None
) -> list[str]:
    """Measure until no trial is due; return the trials that broke a rule in each attempt.

    A block beyond the minimum is decided once all blocks before it are whole (rule 27). So a trial
    that is given up delays it until the next start. Raises FsgreenError if `IN_A_ROW` trials in a
    row are given up.
    """
    campaign, plan = context.campaign, context.plan
    trials, invalid = trial.list_trials(campaign.folder), trial.list_invalid(campaign.folder)
    refused = _given_up(campaign, invalid)
    in_a_row: list[str] = []
    pace = Pace.of(plan, [*trials, *invalid])
    with tqdm(
        total=len(campaign.due()),
        initial=len(trials),
        desc=f"campaign {campaign.name}",
        bar_format=BAR_FORMAT,
    ) as bar:
        while todo := [due for due in campaign.pending() if due.trial not in refused]:
            bar.total = bar.n + len(todo)
            last = todo[-1].block
            goal = "to go" if last == plan.profile.last_block else f"to the end of block {last}"
            groups = design.groups(plan, todo)
            for nth, group in enumerate(groups):
                left_s = pace.total_s(later.cell for rest in groups[nth:] for later in rest)
                if marks is not None and marks.due:
                    marks.make()
                also = f" and {len(group) - 1} beside it" if len(group) > 1 else ""
                bar.set_postfix_str(f"{group[0].cell.label}{also}, {spell(left_s)} {goal}")
                failed = _measure_group(context, group, pace, bar)
                if len(failed) < len(group):
                    in_a_row.clear()
                refused += failed
                in_a_row += failed
                bar.update(len(group))
                if len(in_a_row) >= IN_A_ROW:
                    raise refusal(campaign, f"{len(in_a_row)} trials in a row", in_a_row, COPIES)
                if at_rest is not None:
                    at_rest()
            campaign.note_stopping()
    return refused


def _given_up(campaign: Campaign, invalid: Sequence[trial.Trial]) -> list[str]:
    """Return the trials that broke a rule in `COPIES` attempts: they are not measured again."""
    often = Counter(attempt.name for attempt in invalid)
    given_up = [due.trial for due in campaign.pending() if often[due.trial] >= COPIES]
    for name in given_up:
        copy = next(attempt.folder for attempt in invalid if attempt.name == name)
        print(
            f"{name} is left out: {often[name]} attempts at it broke a rule. "
            f"To try again, move {copy} to "
            f"{trial.place_to_discard(campaign.folder, name)}, where it is kept (rule 48)"
        )
    return given_up


def _measure_group(context: TrialContext, group: Group, pace: Pace, bar: tqdm) -> list[str]:
    """Measure a group; return the trials that do not count after their last attempt.

    A trial has at most `ATTEMPTS` attempts now, and `COPIES` over all starts.
    """
    before = Counter(attempt.name for attempt in trial.list_invalid(context.campaign.folder))
    left = group
    for attempt in range(ATTEMPTS):
        tried = tuple(due for due in left if before[due.trial] + attempt < COPIES)
        if not tried:
            break
        start_s = time.monotonic()
        reasons = _run(context, tried)
        each_s = (time.monotonic() - start_s) / len(tried)
        for planned in tried:
            reason = reasons[planned.trial]
            pace.add(planned.cell, each_s, counts=reason is None)
            if reason is None:
                left = tuple(due for due in left if due != planned)
            else:
                bar.write(f"{planned.trial} does not count: {reason}")
        if not left:
            break
    return [planned.trial for planned in left]


def _run(context: TrialContext, group: Group) -> dict[str, str | None]:
    """Run trials, in turns if the plan has windows; return why each does not count, or None."""
    if context.plan.profile.windows is not None:
        return run_group(context, group)
    [planned] = group
    return {planned.trial: run_trial(context, planned)}
