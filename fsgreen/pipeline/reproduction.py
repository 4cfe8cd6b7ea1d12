"""The whole pipeline made anew, as far as it is out of date, and what came of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from fsgreen import paths
from fsgreen.design import Plan, load_study, make_plan
from fsgreen.design.members import as_measured
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError, unknown
from fsgreen.executors import processes
from fsgreen.pipeline import params
from fsgreen.pipeline.closure import write_digests
from fsgreen.pipeline.ledger import Ledger
from fsgreen.pipeline.packs import unpack
from fsgreen.pipeline.parallel import Run
from fsgreen.pipeline.shipped import identity, lock_file
from fsgreen.pipeline.stages import campaigns

if TYPE_CHECKING:
    from fsgreen.cluster import Borrowed


def reproduce(
    only: str | None = None, *, jobs: int | None = None, cluster: Borrowed | None = None
) -> None:
    """Run what is out of date in the pipeline, then say in ten lines what came of it.

    `only` is one campaign, up to its report; the ledger of its study takes them all. `jobs` cores
    of this machine are used; all by default. `cluster` has cores that are lent somewhere, which
    reduce trials. Raises FsgreenError if there is no such campaign, another run works here, the raw
    traces cannot be had, nobody can listen where cores are to be lent, or a stage fails.
    """
    os.environ.pop("FSGREEN_DATA", None)  # the stages name folders of this checkout
    begin_s, before = time.monotonic(), _recorded()
    names = campaigns() if only is None else [_known(only)]
    with _opened() as ledger:
        changes = ledger.out_of_date()
        if "digest" in changes:
            ledger.record("digest")
        for campaign in names:
            if f"collect@{campaign}" in changes:
                print(f"raw traces of {campaign}: fetching what is missing from data/store")
                ledger.pull(f"collect@{campaign}")
        every = {name: ledger.commands(name) for name in names}
        behind = {
            name: commands
            for name, commands in every.items()
            if changes.keys() & {*commands, f"collect@{name}"}
        }
        # What they rest on is known only behind the campaigns.
        later = [ledger.of_studies(), ledger.of_all()] if only is None else []
        if behind or changes.keys() & {n for of in later for stages in of.values() for n in stages}:
            with cluster.gathering() if cluster else nullcontext():
                for run in (behind, *later):
                    Run(ledger, run, jobs=jobs, cluster=cluster).all()
        else:
            print("nothing is out of date")
    for campaign in names:
        _compare_plans(campaign)
    print()
    print("\n".join(_summary(only, before, time.monotonic() - begin_s)))


@contextmanager
def _opened() -> Iterator[Ledger]:
    """Give the ledger, once it is written what each stage rests on now."""
    # DVC takes as long to open as this to write: another core does it meanwhile.
    with processes(1) as aside:
        written = aside.submit(write_digests)
        with Ledger.opened() as ledger:
            written.result()
            aside.shutdown()
            yield ledger


def _recorded() -> str:
    """Return what is recorded of all stages. Raises FsgreenError in a project without any."""
    if not lock_file().is_file():
        raise FsgreenError(
            "nothing of this project has been recorded yet",
            where=lock_file(),
            next_step="measure, pack and record a campaign, as README.md of the project tells",
        )
    return lock_file().read_text()


def _known(campaign: str) -> str:
    if campaign not in campaigns():
        raise unknown(
            "campaign of the pipeline",
            campaign,
            campaigns(),
            where=paths.root() / "params.yaml",
            next_step="one of your own is analysed when it is measured; docs/pipeline.md tells how "
            "to add it",
        )
    return campaign


def _summary(only: str | None, before: str, took_s: float) -> Iterator[str]:
    """Yield whether claims hold, whether outputs are those that ship, and what to look at next."""
    from fsgreen.claims import own_file
    from fsgreen.pipeline.summary import table

    of_campaigns = params.campaigns()
    run = "./run" if (paths.root() / "run").is_file() else "fsgreen"  # what can be typed here
    names = of_campaigns if only is None else [only]
    told = [paths.told(of_campaigns[name].study, name, shipped=True) for name in names]
    if only is None:
        own = [study for study in params.studies() if own_file(study).is_file()]
        shown = [study for study in params.studies() if study not in own] or own
        of_claims = {study: paths.ledger(study) / "claims.csv" for study in shown}
        folders = [paths.data() / "results", paths.data() / "ledgers"]
        reports = (
            "the paper: data/article/article.pdf, .html; reports: report.pdf in "
            "data/ledgers/STUDY and data/results/CAMPAIGN"
        )
        more = ", ".join([f"{run} outcome", *(f"{run} ledger {study}" for study in own)])
    else:
        of_claims = {only: paths.results(only) / "claims.csv"}
        folders = [paths.results(only), *told]
        reports = f"report: data/results/{only}/report.pdf"
        more = f"{run} outcome {only}"
    yield from table(of_claims)
    yield f"{identity(before, folders, told)}; this took {spell(took_s)}"
    yield f"{reports}; more: {more}, {run} claim SLUG"


def reanalyse(campaign: str, stage: str) -> str:
    """Make anew, from its traces, what a stage of a campaign makes and all that this rests on.

    Returns which stages ran, and whether what they made is what ships. Raises FsgreenError as
    `reproduce` does.
    """
    os.environ.pop("FSGREEN_DATA", None)
    before, name = _recorded(), f"{stage}@{_known(campaign)}"
    pull(campaign)
    with _opened() as ledger:
        ledger.record("digest")
        commands = ledger.behind(name)
        commands.pop(f"unpack@{campaign}")
        Run(ledger, {campaign: commands}, again=True).all()
        made = ledger.outs(commands)
    ran = ", ".join(stage_name.partition("@")[0] for stage_name in commands)
    told = paths.told(params.campaigns()[campaign].study, campaign, shipped=True)
    return f"{ran} ran again on the traces of {campaign}: {identity(before, made, [told])}"


def pull(campaign: str) -> None:
    """Put the raw traces of a campaign of the pipeline in place, out of the store that ships.

    Raises FsgreenError if the store lacks some, or traces that were changed by hand are in the way.
    """
    with Ledger.opened(wait=True) as ledger:
        if ledger.out_of_date([f"collect@{campaign}"]):
            ledger.pull(f"collect@{campaign}")
        if ledger.out_of_date([f"unpack@{campaign}"]):
            unpack(campaign)


def _compare_plans(campaign: str) -> None:
    """Say so if the study was declared anew since the campaign was measured."""
    files = [folder(campaign) / paths.PLAN for folder in (paths.results, paths.raw)]
    texts = [file.read_text() for file in files]
    if texts[0] == texts[1]:
        return
    declared, measured = (
        Plan.from_json(json.loads(text), file) for text, file in zip(texts, files, strict=True)
    )
    identity = json.loads((paths.raw(campaign) / paths.IDENTITY).read_text())
    if identity["testbed"]["kind"] == "directory":
        only = measured.baseline["file_system"]
        study = as_measured(load_study(declared.study), campaign)
        declared = make_plan(study, declared.profile.name, only=only)
    if lines := declared.difference(measured):
        print(f"\nnote: {campaign} was measured under another plan than its study declares now:")
        print("\n".join(f"  {line}" for line in lines[:8]))
        print(f"  next: undo the change, or fsgreen measure {measured.study} --name ANOTHER")
