"""The whole pipeline: campaigns side by side, their stages in turn, each in a process of its own.

A stage's process is forked from one that has imported the packages already: they take longer to
import than most stages to run.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from importlib.metadata import entry_points
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from threading import Lock
from typing import TYPE_CHECKING

from fsgreen import paths
from fsgreen.design import Plan, load_study, make_plan
from fsgreen.design.members import as_measured
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError, unknown
from fsgreen.executors import Executor, Processes, entered
from fsgreen.pipeline import params
from fsgreen.pipeline.closure import modules, write_digests
from fsgreen.pipeline.ledger import Ledger
from fsgreen.pipeline.packs import unpack
from fsgreen.pipeline.shipped import identity, lock_file
from fsgreen.pipeline.stages import campaigns

if TYPE_CHECKING:
    from fsgreen.cluster import Borrowed


def reproduce(
    only: str | None = None, *, jobs: int | None = None, cluster: Borrowed | None = None
) -> None:
    """Run what is out of date in the pipeline, then say in ten lines what came of it.

    Parameters
    ----------
    only : str, optional
        One campaign, up to its report; the ledger of its study takes them all.
    jobs : int, optional
        How many cores of this machine are used; all by default.
    cluster : Borrowed, optional
        Cores that are lent somewhere, which reduce trials.

    Raises
    ------
    FsgreenError
        If there is no such campaign, another run works here, the raw traces cannot be had, nobody
        can listen where cores are to be lent, or a stage fails.
    """
    os.environ.pop("FSGREEN_DATA", None)  # the stages name folders of this checkout
    begin_s, before = time.monotonic(), lock_file().read_text()
    names = campaigns() if only is None else [_known(only)]
    write_digests()
    with Ledger.opened() as ledger:
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
                    _Run(ledger, run, jobs=jobs, cluster=cluster).all()
        else:
            print("nothing is out of date")
    for campaign in names:
        _compare_plans(campaign)
    print()
    print("\n".join(_summary(only, before, time.monotonic() - begin_s)))


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

    Returns
    -------
    str
        Which stages ran, and whether what they made is what ships.

    Raises
    ------
    FsgreenError
        As `reproduce` does.
    """
    os.environ.pop("FSGREEN_DATA", None)
    before, name = lock_file().read_text(), f"{stage}@{_known(campaign)}"
    pull(campaign)
    write_digests()
    with Ledger.opened() as ledger:
        ledger.record("digest")
        commands = ledger.behind(name)
        commands.pop(f"unpack@{campaign}")
        _Run(ledger, {campaign: commands}, again=True).all()
        made = ledger.outs(commands)
    ran = ", ".join(stage_name.partition("@")[0] for stage_name in commands)
    told = paths.told(params.campaigns()[campaign].study, campaign, shipped=True)
    return f"{ran} ran again on the traces of {campaign}: {identity(before, made, [told])}"


def pull(campaign: str) -> None:
    """Put the raw traces of a campaign of the pipeline in place, out of the store that ships.

    Raises
    ------
    FsgreenError
        If the store lacks some, or traces that were changed by hand are in the way.
    """
    with Ledger.opened(wait=True) as ledger:
        if ledger.out_of_date([f"collect@{campaign}"]):
            ledger.pull(f"collect@{campaign}")
        if ledger.out_of_date([f"unpack@{campaign}"]):
            unpack(campaign)


FEWEST_RAN = 5
"""Stages whose pace tells something of those to come: campaigns begin with their longest ones."""

FORKER_GONE = 255
"""What `multiprocessing` says of a process if the one that it was forked from has ended first."""


class _Run:
    """Stages of several campaigns or studies by name, as many at once as there are `jobs`.

    Those that are out of date run; with `again`, all of them. Trials are reduced on cores that are
    lent, else on those that no other campaign uses.
    """

    def __init__(
        self,
        ledger: Ledger,
        commands: Mapping[str, Mapping[str, str]],
        *,
        again: bool = False,
        jobs: int | None = None,
        cluster: Borrowed | None = None,
    ) -> None:
        self._ledger = ledger
        self._again = again
        self._commands = commands
        self._jobs = jobs or len(os.sched_getaffinity(0))
        own = Processes(self._jobs // max(1, len(commands)))
        self._executor: Executor = cluster or own
        self._count = sum(map(len, self._commands.values()))
        self._seen, self._ran, self._begin_s = 0, 0, time.monotonic()
        self._running: set[ForkServerProcess] = set()
        self._stopped = False
        # Each start looks at all processes, and two who look at one may miss how it ended.
        self._looking = Lock()
        self._forks = get_context("forkserver")
        self._forks.set_forkserver_preload(["fsgreen.pipeline.cells", *modules()])
        # Only a process of one thread may fork.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"

    def all(self) -> None:
        """Run what is out of date; if a stage fails, or this is interrupted, stop the others."""
        with ThreadPoolExecutor(self._jobs) as workers:
            done = [workers.submit(self._campaign, campaign) for campaign in self._commands]
            try:
                for future in as_completed(done):
                    future.result()
            except BaseException:
                self._stopped = True
                for future in done:
                    future.cancel()
                for process in list(self._running):
                    process.terminate()
                raise

    def _campaign(self, campaign: str) -> None:
        for stage, command in self._commands[campaign].items():
            self._seen += 1
            if not self._stopped and (self._again or self._ledger.out_of_date([stage])):
                print(f"[{self._seen}/{self._count}] {stage} runs{self._to_go()}", flush=True)
                self._ledger.clear(stage)
                self._run(stage, command)
                self._ledger.record(stage)
                self._ran += 1

    def _run(self, stage: str, command: str) -> None:
        process = self._forks.Process(target=_do, args=(command, self._executor))
        try:
            with self._looking:
                process.start()
        except (ConnectionError, EOFError) as error:
            raise _failure(stage, FORKER_GONE) from error
        self._running.add(process)
        if self._stopped:
            process.terminate()
        wait([process.sentinel])
        with self._looking:
            status = process.exitcode
        self._running.discard(process)
        if status:
            raise _failure(stage, status)

    def _to_go(self) -> str:
        """Say how long the stages that are left take, by the pace of `FEWEST_RAN` or more."""
        if self._ran < FEWEST_RAN:
            return ""
        pace_s = (time.monotonic() - self._begin_s) / self._ran
        return f"; about {spell(pace_s * (self._count - self._seen + 1))} to go"


def _failure(stage: str, status: int) -> FsgreenError:
    """Return the error for a stage whose process ended with a status, or by a signal (-9: KILL)."""
    again = "./run reproduce goes on from there"
    if status < 0:
        how = f"was ended by {signal.Signals(-status).name}, so it could not say why"
        if -status == signal.SIGKILL:
            again = f"the kernel ends what takes too much memory (dmesg, free -h); then {again}"
    elif status == FORKER_GONE:
        how = "was lost, because its parent process ended"
    else:
        how = f"ended with status {status} (its message stands above)"
        again = f"mend that, then {again}"
    return FsgreenError(
        f"the pipeline stopped at {stage}: its process {how}; what was done before is kept",
        where=paths.root() / "dvc.yaml",
        next_step=again,
    )


def _do(command: str, executor: Executor) -> None:
    """Run the command of a stage, an installed program, here; end with its exit status."""
    sys.argv = shlex.split(command)
    (program,) = entry_points(group="console_scripts", name=sys.argv[0])
    with entered(executor):
        sys.exit(program.load()())


def _compare_plans(campaign: str) -> None:
    """Say so if the study was declared anew since the campaign was measured."""
    files = [folder(campaign) / paths.PLAN for folder in (paths.results, paths.raw)]
    declared, measured = (Plan.from_json(json.loads(file.read_text()), file) for file in files)
    identity = json.loads((paths.raw(campaign) / paths.IDENTITY).read_text())
    if identity["testbed"]["kind"] == "directory":
        only = measured.baseline["file_system"]
        study = as_measured(load_study(declared.study), campaign)
        declared = make_plan(study, declared.profile.name, only=only)
    if lines := declared.difference(measured):
        print(f"\nnote: {campaign} was measured under another plan than its study declares now:")
        print("\n".join(f"  {line}" for line in lines[:8]))
        print(f"  next: undo the change, or fsgreen measure {measured.study} --name ANOTHER")
