"""Trials of a campaign that were measured and do not count, and why, as its report names them."""

from __future__ import annotations

from typing import Any

from fsgreen import paths
from fsgreen.trial import list_discarded, list_invalid
from fsgreen.words import plural

MOST_NAMED = 5
"""Trials of a kind that a report names."""


def set_aside(campaign: str) -> list[dict[str, Any]]:
    """Return the trials that broke a rule or failed, and those set aside after a look.

    Each kind that there is has `what` it is, `trials` (the first, each with the reason that its
    record has), the number of `others` or None, and a command that lists `all`.
    """
    raw = paths.raw(campaign)
    kinds = (
        ("broke a rule or failed", "invalid", list_invalid(raw)),
        ("set aside by a person, who had seen the result", "discarded", list_discarded(raw)),
    )
    return [
        {
            "what": f"{plural(len(trials), 'trial')} {what}",
            "trials": [
                f"{trial.folder.name}: {trial.record.reason or 'no record says why'}"
                for trial in trials[:MOST_NAMED]
            ],
            "others": len(trials) - MOST_NAMED if len(trials) > MOST_NAMED else None,
            "all": f"ls data/raw/{campaign}/{folder}",
        }
        for what, folder, trials in kinds
        if trials
    ]
