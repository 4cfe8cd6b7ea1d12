"""The whole pipeline: campaigns side by side, their stages in turn, each in a process of its own.

A stage's process is forked from one that has imported the packages already: they take longer to
import than most stages to run.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import entry_points
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess

from fsgreen import paths
from fsgreen.design import Plan, load_study, make_plan
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.closure import modules, write_digests
from fsgreen.pipeline.ledger import Ledger
from fsgreen.pipeline.packs import unpack
from fsgreen.pipeline.params import studies
from fsgreen.pipeline.stages import campaigns, ledger_of, outcome_of


def reproduce() -> None:
    """Run what is out of date in the pipeline, then show the verdicts and where the report is.

    Raises
    ------
    FsgreenError
        If another run works here, the raw traces cannot be had, or a stage fails.
    """
    os.environ.pop("FSGREEN_DATA", None)  # the stages name folders of this checkout
    write_digests()
    with Ledger.opened() as ledger:
        changes = ledger.out_of_date()
        if "digest" in changes:
            ledger.record("digest")
        for campaign in campaigns():
            if f"collect@{campaign}" in changes:
                print(f"raw traces of {campaign}: fetching what is missing from data/store")
                ledger.pull(f"collect@{campaign}")
        every = {name: ledger.commands(name) for name in campaigns()}
        behind = {
            name: commands
            for name, commands in every.items()
            if changes.keys() & {*commands, f"collect@{name}"}
        }
        of_studies = ledger.of_studies()  # what they rest on is known only behind the campaigns
        if behind or changes.keys() & {name for stages in of_studies.values() for name in stages}:
            _Run(ledger, behind).all()
            _Run(ledger, of_studies).all()
        else:
            print("nothing is out of date")
    for campaign in campaigns():
        _compare_plans(campaign)
        print("\n" + outcome_of(campaign))
    for study in studies():
        print("\n" + ledger_of(study))


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


class _Run:
    """Stages of several campaigns or studies by name, as many at once as there are cores."""

    def __init__(self, ledger: Ledger, commands: Mapping[str, Mapping[str, str]]) -> None:
        self._ledger = ledger
        self._commands = commands
        self._count = sum(map(len, self._commands.values()))
        self._seen, self._ran, self._begin_s = 0, 0, time.monotonic()
        self._running: set[ForkServerProcess] = set()
        self._stopped = False
        self._forks = get_context("forkserver")
        self._forks.set_forkserver_preload(["fsgreen.pipeline.cells", *modules()])
        # Only a process of one thread may fork.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"

    def all(self) -> None:
        """Run what is out of date; if a stage fails, or this is interrupted, stop the others."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as workers:
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
            if not self._stopped and self._ledger.out_of_date([stage]):
                print(f"[{self._seen}/{self._count}] {stage} runs{self._to_go()}", flush=True)
                self._ledger.clear(stage)
                self._run(stage, command)
                self._ledger.record(stage)
                self._ran += 1

    def _run(self, stage: str, command: str) -> None:
        process = self._forks.Process(target=_do, args=(command,))
        process.start()
        self._running.add(process)
        if self._stopped:
            process.terminate()
        process.join()
        self._running.discard(process)
        if process.exitcode:
            raise FsgreenError(
                f"the pipeline stopped at {stage} (see above); what was done before is kept",
                where=paths.root() / "dvc.yaml",
                next_step="mend that, then ./run reproduce",
            )

    def _to_go(self) -> str:
        """Say how long the stages that are left take, by the pace of those that ran."""
        pace_s = (time.monotonic() - self._begin_s) / self._ran if self._ran else None
        return f"; about {spell(pace_s * (self._count - self._seen + 1))} to go" if pace_s else ""


def _do(command: str) -> None:
    """Run the command of a stage, an installed program, here; end with its exit status."""
    sys.argv = shlex.split(command)
    (program,) = entry_points(group="console_scripts", name=sys.argv[0])
    sys.exit(program.load()())


def _compare_plans(campaign: str) -> None:
    """Say so if the study was declared anew since the campaign was measured."""
    files = [folder(campaign) / "plan.json" for folder in (paths.results, paths.raw)]
    declared, measured = (Plan.from_json(json.loads(file.read_text()), file) for file in files)
    identity = json.loads((paths.raw(campaign) / "campaign.json").read_text())
    if identity["testbed"]["kind"] == "directory":
        only = measured.baseline["file_system"]
        declared = make_plan(load_study(declared.study), declared.profile.name, only=only)
    if lines := declared.difference(measured):
        print(f"\nnote: {campaign} was measured under another plan than its study declares now:")
        print("\n".join(f"  {line}" for line in lines[:8]))
        print(f"  next: undo the change, or fsgreen measure {measured.study} --name ANOTHER")
