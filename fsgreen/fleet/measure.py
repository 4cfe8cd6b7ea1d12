"""From the name of a study to its trials on all testbeds of a fleet."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

from fsgreen import design, paths
from fsgreen.campaign import Campaign
from fsgreen.design import Plan
from fsgreen.design.factors import AS_FOUND
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError
from fsgreen.fleet import fleetfile, given
from fsgreen.fleet.fleetfile import Fleet
from fsgreen.fleet.messages import Order
from fsgreen.fleet.orders import study_of
from fsgreen.fleet.record import Board, Post, Record
from fsgreen.fleet.replicate import Replicate
from fsgreen.fleet.required import require
from fsgreen.fleet.shares import Shares
from fsgreen.words import plural


def measure(study: str, profile: str, file: Path, *, name: str | None = None) -> list[Campaign]:
    """Measure the pending trials of a study on every testbed of a fleet, and bring them here.

    Where blocks are shared, the baseline is measured on all testbeds first, as the campaigns
    NAME-baseline, and they share the blocks if that shows that they are equal.

    The campaigns are called `name`, by default STUDY-PROFILE, and the name of the testbed. Returns
    one for each testbed, all trials of its plan here; where they share the blocks, one. Raises
    FsgreenError if that cannot be: another home measures, home cannot listen, the plan is not that
    of trials that are here, testbeds that are to share blocks are not equal, or a testbed refused;
    the trials then stay, and the same call goes on.
    """
    require()
    fleet = fleetfile.read(file)
    plan = design.make_plan(design.load_study(study), profile)
    order = Order(
        campaign=paths.checked(name or f"{study}-{profile}"),
        study=study,
        profile=profile,
        plan_hash=plan.hash,
        design=fleet.design,
    )
    shares = fleet.design == "share"
    is_shared = shares and given.file_of(order.campaign).exists()
    if (paths.raw(order.campaign) / paths.PLAN).exists() and not is_shared:
        raise FsgreenError(
            f"the campaign {order.campaign} was begun on one testbed, or by testbeds that share it",
            where=paths.raw(order.campaign),
            next_step=f"another name: {_again(fleet, order)} --name {order.campaign}-fleet",
        )
    if shares:
        return [_share(fleet, order, plan)]
    return _measure(fleet, order, Replicate(order, fleet.testbeds))


def _share(fleet: Fleet, order: Order, plan: Plan) -> Campaign:
    """Measure the baseline on all testbeds, then the blocks on those that it shows to be equal."""
    from fsgreen.fleet import equality, joined

    if plan.profile.sequential:
        raise FsgreenError(
            f"the profile {order.profile} ends cells that are known well enough (rule 27), "
            "but no testbed knows what the others measured",
            where=f"studies/{order.study}.yaml",
            next_step=f"take a profile without most_blocks, or {equality.REPLICATE}",
        )
    made = Campaign(order.campaign)
    if made.begun():
        _check_plan(made, study_of(order, ""), fleet, order)
        if not made.pending():
            return made
    first = order.model_copy(
        update={"campaign": f"{order.campaign}-baseline", "design": "baseline"}
    )
    begun = _measure(fleet, first, Replicate(first, fleet.testbeds))[0].plan()
    equality.check(order.campaign, first.campaign, fleet.testbeds)
    if begun.hash != design.make_plan(study_of(first, fleet.testbeds[0]), order.profile).hash:
        plan = design.make_plan(study_of(order, ""), order.profile, only=_only(begun))
    _measure(fleet, order, Shares(order, plan, fleet.testbeds))
    return joined.join(order.campaign, given.read(order.campaign))


def _measure(fleet: Fleet, order: Order, design_of: Replicate | Shares) -> list[Campaign]:
    """Have every testbed measure what a design has for it."""
    from fsgreen.fleet import membership
    from fsgreen.fleet.home import Home

    whole = Campaign(order.campaign)
    campaigns = [Campaign(member(order.campaign, testbed)) for testbed in fleet.testbeds]
    for testbed, each in zip(fleet.testbeds, campaigns, strict=True):
        if (each.folder / paths.PLAN).exists():
            _check_plan(each, study_of(order, testbed), fleet, order)
    with ExitStack() as stack:
        for each in (whole, *campaigns):
            stack.enter_context(each.alone())
        if all(design_of.is_done(testbed) for testbed in fleet.testbeds):
            return campaigns
        whole.folder.mkdir(parents=True, exist_ok=True)
        posts = {testbed: Post() for testbed in fleet.testbeds}
        record = Record(study=order.study, profile=order.profile, design=order.design, posts=posts)
        home = Home(fleet, design_of, Board(order.campaign, record))
        membership.begin()
        asyncio.run(home.run())
    if home.refused and not design_of.is_over:
        raise FsgreenError(
            f"{plural(len(home.refused), 'testbed')} of {len(campaigns)} did not continue: "
            + "\n".join(f"{testbed}: {error}" for testbed, error in home.refused.items()),
            where=whole.folder,
            next_step="mend that, then start the same command again",
        )
    return campaigns


def _check_plan(campaign: Campaign, study: design.Study, fleet: Fleet, order: Order) -> None:
    """Refuse to take trials of another plan for those of this; `study` has the testbed's seed."""
    begun, plan = campaign.plan(), design.make_plan(study, order.profile)
    if begun.hash == plan.hash:
        return
    plan = design.make_plan(study, order.profile, only=_only(begun))
    if begun.hash != plan.hash:
        lines = plan.difference(begun)
        more = f"\n    and {len(lines) - 8} more" if len(lines) > 8 else ""
        raise FsgreenError(
            f"the campaign {campaign.name} was begun under another plan:\n    "
            + "\n    ".join(lines[:8])
            + more,
            where=campaign.folder / paths.PLAN,
            next_step=f"undo the change, or begin another: {_again(fleet, order)} "
            f"--name {order.campaign}-2",
        )


def _only(begun: Plan) -> str | None:
    """Return the file system of a testbed that has one alone, by a plan that it began."""
    only = begun.levels(begun.baseline)["file_system"]
    is_alone = begun.constants.get("scheduler") == AS_FOUND and isinstance(only, str)
    return only if is_alone else None


def _again(fleet: Fleet, order: Order) -> str:
    return f"fsgreen measure {order.study} --profile {order.profile} --fleet {fleet.file}"
