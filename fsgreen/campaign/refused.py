"""Trials that broke a rule in every attempt: why, and what to change."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fsgreen import trace, trial
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan
from fsgreen.design.owncopy import file_to_change, to_change
from fsgreen.errors import FsgreenError
from fsgreen.trial import TrialRecord

LENGTH = 16
"""The rule that a longer trial would meet."""


class NotAll(FsgreenError):
    """Some trials of a campaign broke a rule in every attempt. The others are whole."""


def refusal(campaign: Campaign, which: str, names: Sequence[str], copies: int) -> NotAll:
    """Return the error of a campaign that ends because of trials that do not count.

    `which` says the trials in words, with their number; `names` has their names. `copies` is the
    most attempts at a trial over all starts.
    """
    attempts = [attempt.record for attempt in trial.list_invalid(campaign.folder)]
    attempts.sort(key=lambda record: record.clock.unix_s)
    last = {record.trial: record for record in attempts if record.trial in names}
    reason = f"\n    {names[0]}: {last[names[0]].reason}" if names[0] in last else ""
    return NotAll(
        f"{which} broke a rule each time: {', '.join(names[:5])}{reason}",
        where=campaign.folder / "invalid",
        next_step=_longer(campaign, list(last.values()))
        or f"read the reasons with `fsgreen status {campaign.name}`, change what they name or "
        "calm the machine, then start the same command again; after "
        f"{copies} attempts a trial is left out",
    )


def _longer(campaign: Campaign, records: Sequence[TrialRecord]) -> str | None:
    """Return the next step for trials that are only too short; None if another rule is broken."""
    if not records or any(_broken(record) != {LENGTH} for record in records):
        return None
    plan = campaign.plan()
    profile = plan.profile
    needed_s = max(_enough_s(record, plan) for record in records)
    place = f"profile {profile.name} of {file_to_change(plan.study)}"
    own = to_change(plan.study)
    again = f"fsgreen measure {own} --profile {profile.name} --name {campaign.name}-2"
    if math.isinf(needed_s):
        return (
            "measure with a meter of a smaller constant error: that of these is more than "
            f"{plan.bounds['budget_percent']:g} % of the power, however long a trial is; or set "
            f"a larger budget_percent in {place}, then {again}"
        )
    key = "measure_s" if profile.windows is None else "length_s of windows"
    return f"set {key} to {math.ceil(needed_s)} in {place}, then {again}"


def _broken(record: TrialRecord) -> set[int]:
    return {check.rule for check in record.checks if not check.ok}


def _enough_s(record: TrialRecord, plan: Plan) -> float:
    over = trace.sum_energies([record.energy[name] for name in record.efficiency_meters])
    return trace.enough_s(
        over.budget,
        over.energy_j,
        over.duration_s,
        share=plan.bounds["budget_percent"] / 100,
        intervals=len(record.measured),
        fixed_j=sum(record.meters[name].constant_error_j for name in record.efficiency_meters),
    )
