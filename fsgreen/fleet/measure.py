"""From the name of a study to its trials on all testbeds of a fleet."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from fsgreen import design, paths
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet import fleetfile
from fsgreen.fleet.messages import Order
from fsgreen.fleet.record import Board, Post, Record
from fsgreen.fleet.required import require
from fsgreen.words import plural


def measure(study: str, profile: str, file: Path, *, name: str | None = None) -> list[Campaign]:
    """Measure the pending trials of a study on every testbed of a fleet, and bring them here.

    Parameters
    ----------
    study, profile : str
        What is measured, and how much of it.
    file : Path
        The fleet file.
    name : str, optional
        What the campaigns are called before the name of the testbed; STUDY-PROFILE by default.

    Returns
    -------
    list of Campaign
        One for each testbed, all trials of its plan here.

    Raises
    ------
    FsgreenError
        If that cannot be: another home measures, home cannot listen, the plan is not that of trials
        that are here, or a testbed refused; the trials then stay, and the same call goes on.
    """
    require()
    from fsgreen.fleet import membership
    from fsgreen.fleet.home import Home

    fleet = fleetfile.read(file)
    declared = design.load_study(study)
    plan = design.make_plan(declared, profile)
    whole = Campaign(name or f"{study}-{profile}")
    if (whole.folder / paths.PLAN).exists():
        raise FsgreenError(
            f"the campaign {whole.name} was begun on one testbed",
            where=whole.folder,
            next_step=f"another name: fsgreen measure {study} --profile {profile} --fleet {file} "
            f"--name {whole.name}-fleet",
        )
    campaigns = [Campaign(fleetfile.member(whole.name, testbed)) for testbed in fleet.testbeds]
    for testbed, each in zip(fleet.testbeds, campaigns, strict=True):
        if (each.folder / paths.PLAN).exists():
            own = replace(declared, seed=design.derive_seed(declared.seed, testbed))
            _check_plan(each, own, profile, whole.name, file)
    order = Order(campaign=whole.name, study=study, profile=profile, plan_hash=plan.hash)
    with ExitStack() as stack:
        for each in (whole, *campaigns):
            stack.enter_context(each.alone())
        whole.folder.mkdir(parents=True, exist_ok=True)
        posts = {testbed: Post() for testbed in fleet.testbeds}
        home = Home(
            fleet, order, Board(whole.name, Record(study=study, profile=profile, posts=posts))
        )
        membership.begin()
        asyncio.run(home.run())
    if home.refused:
        raise FsgreenError(
            f"{plural(len(home.refused), 'testbed')} of {len(campaigns)} did not go on: "
            + "\n".join(f"{testbed}: {error}" for testbed, error in home.refused.items()),
            where=whole.folder,
            next_step="mend that, then start the same command again",
        )
    return campaigns


def _check_plan(
    campaign: Campaign, study: design.Study, profile: str, fleet: str, file: Path
) -> None:
    """Refuse to take trials of another plan for those of this; `study` has the testbed's seed."""
    begun, plan = campaign.plan(), design.make_plan(study, profile)
    if begun.hash == plan.hash:
        return
    only = begun.levels(begun.baseline)["file_system"]
    if begun.constants.get("scheduler") == "as found" and isinstance(only, str):
        plan = design.make_plan(study, profile, only=only)  # that of a testbed with one file system
    if begun.hash != plan.hash:
        lines = plan.difference(begun)
        more = f"\n    and {len(lines) - 8} more" if len(lines) > 8 else ""
        raise FsgreenError(
            f"the campaign {campaign.name} was begun under another plan:\n    "
            + "\n    ".join(lines[:8])
            + more,
            where=campaign.folder / paths.PLAN,
            next_step=f"undo the change, or begin another: fsgreen measure {study.name} --profile "
            f"{profile} --fleet {file} --name {fleet}-2",
        )
