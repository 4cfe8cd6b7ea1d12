"""What to think of before a plan is measured, in lines: `fsgreen plan`."""

from __future__ import annotations

from fsgreen.campaign import studycheck
from fsgreen.design import Plan, Study
from fsgreen.rules.subsets import without_reason


def notes(study: Study, plan: Plan) -> list[str]:
    """Return that trials are too short, images too large, or levels left out without a reason."""
    told = [
        studycheck.too_short(study, plan.profile.name),
        studycheck.too_large(study, plan.profile.name),
        *(f"no exclusion speaks of {left} (rule 6)" for left in without_reason(plan, study)),
    ]
    return [note for note in told if note is not None]
