"""What a plan can decide before it is measured, in lines: `fsgreen plan --assay` (rule 46)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fsgreen import paths
from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.ledger import VIRTUAL
from fsgreen.analysis.comparisons import comparisons_of, treatments_of
from fsgreen.analysis.planned import Pilot, Planned, tellings
from fsgreen.assay.decided import of_claims, of_differences, time_of
from fsgreen.design import Plan, Study
from fsgreen.design.overview import blocks_of
from fsgreen.errors import FsgreenError
from fsgreen.papers.judging import claims_of, sources_of
from fsgreen.reduce import read_plan
from fsgreen.words import plural


def lines(study: Study, plan: Plan, pilot: str | None = None) -> Iterator[str]:
    """Yield what a plan can decide, and how to buy more.

    Its trials will scatter as those of the campaign `pilot`; without one, as those of the campaign
    of the study that has measured most of its cells here. Raises FsgreenError if the pilot is of
    another study, or has not been analysed.
    """
    claims = claims_of(study.name)
    name = pilot or _likeliest(plan)
    known = None if name is None else _pilot(name, plan, claims)
    comparisons = comparisons_of(study, plan)
    planned = Planned.of(plan, known, claims.needs, treatments_of(study, comparisons, plan))
    yield (
        f"{plan.study}, profile {plan.profile.name}: what {blocks_of(plan)} blocks of "
        f"{plural(len(planned.cells), 'cell')} can decide (rule 46)"
    )
    yield from _basis(planned)
    if claims.stated:
        yield from of_claims(claims, planned)
    else:
        told = partial(tellings, comparisons=comparisons, metrics=study.metrics)
        yield from of_differences(planned, told)


def _likeliest(plan: Plan) -> str | None:
    """Return the campaign of a study with most cells of a plan, the last of several."""
    files = sorted(
        (paths.data() / "results").glob("*/trials.csv"), key=lambda file: file.stat().st_mtime
    )
    shared = {}
    for file in files:
        name = file.parent.name
        if (paths.raw(name) / paths.PLAN).is_file() and read_plan(name).study == plan.study:
            shared[name] = len({*read_plan(name).cells} & {*plan.cells})
    return max(reversed([*shared]), key=lambda name: shared[name], default=None)


def _pilot(name: str, plan: Plan, claims: Claims) -> Pilot:
    if (study := read_plan(name).study) != plan.study:
        raise FsgreenError(
            f"{name} is a campaign of {study}: its trials say nothing about {plan.study}",
            next_step="fsgreen list campaigns, then name one of this study",
        )
    sources = sources_of(name, claims)
    in_real_time = [(testbed, source) for testbed, source in sources.items() if testbed != VIRTUAL]
    if not in_real_time:
        raise FsgreenError(
            f"{name} has no trials in real time, so the scatter of trials is not known",
            where=paths.results(name),
            next_step=f"fsgreen measure {plan.study} --profile PROFILE --name {plan.study}-pilot",
        )
    return Pilot.of(name, *in_real_time[0])


def _basis(planned: Planned) -> Iterator[str]:
    """Yield what is known of the scatter, and how long the plan takes."""
    plan, pilot = planned.plan, planned.pilot
    if pilot is None:
        yield (
            "no campaign of this study has been analysed here, so the scatter of its trials is not "
            "known: ./run reproduce analyses those that ship, if there are any; otherwise "
            f"measure a pilot of two blocks (fsgreen measure {plan.study} --profile PROFILE --name "
            f"{plan.study}-pilot); then ask again"
        )
    else:
        profile = pilot.plan.profile
        yield (
            f"the scatter of trials is that of {pilot.name} (profile {profile.name}, "
            f"{blocks_of(pilot.plan)} blocks, on {pilot.testbed}); --pilot CAMPAIGN takes another"
        )
        if profile.windows is not None and plan.profile.windows is None:
            yield "note: its cells took turns, but these do not, so these will scatter more"
    profile = plan.profile
    least, most = (time_of(planned, blocks) for blocks in (profile.blocks, profile.last_block))
    takes = least if least == most else f"{least} to {most}"
    yield f"time: {takes}"
    if profile.sequential:
        yield (
            f"this holds for {profile.blocks} blocks, the least for each cell; cells whose own "
            f"interval is wide then get up to {profile.last_block}"
        )
