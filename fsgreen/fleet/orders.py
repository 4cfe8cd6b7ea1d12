"""What a testbed measures by an order: the study of its machine, in the plan that is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fsgreen import design
from fsgreen.design import Study
from fsgreen.design.members import on_testbed
from fsgreen.fleet.messages import Order

BASELINE = "baseline"


def study_of(order: Order, testbed: str) -> Study:
    """Return the study of an order as a testbed measures it.

    Blocks that are shared out are those of one plan. Otherwise each testbed has a seed of its own,
    and so an order of its own.

    Raises FsgreenError if there is no such study here.
    """
    declared = design.load_study(order.study)
    if order.design == "share":
        return declared
    own = on_testbed(declared, testbed)
    return _of_baseline(own, order.profile) if order.design == "baseline" else own


def is_planned(value: dict[str, Any], order: Order, testbed: str) -> bool:
    """Return whether `plan.json` of a testbed holds what it is to measure.

    It is compared and never interpreted: a plan declares factors, and this one comes from another
    machine. A testbed that has one file system has the plan for that.
    """
    study = study_of(order, testbed)
    if value == design.make_plan(study, order.profile).to_json():
        return True
    baseline = value.get("baseline")
    only = baseline.get("file_system") if isinstance(baseline, dict) else None
    return (
        isinstance(only, str)
        and value == design.make_plan(study, order.profile, only=only).to_json()
    )


def _of_baseline(study: Study, profile: str) -> Study:
    """Return the study whose only cell is the baseline, in as many blocks as a conclusion takes."""
    chosen = study.profiles[profile]
    bounds = {**study.bounds, **(chosen.bounds or {})}
    short = replace(
        chosen, matrices=(BASELINE,), blocks=int(bounds["minimum_trials"]), most_blocks=None
    )
    return replace(study, matrices={BASELINE: (study.baseline,)}, profiles={profile: short})
