"""Stages of campaigns side by side, those of each in turn, each in a process of its own.

A stage's process is forked from one that has imported the packages already: they take longer to
import than most stages to run.
"""

from __future__ import annotations

import gc
import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import entry_points
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from threading import Lock
from typing import TYPE_CHECKING

from fsgreen import paths
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError
from fsgreen.executors import Executor, Processes, entered
from fsgreen.pipeline.closure import modules
from fsgreen.pipeline.ledger import Ledger

if TYPE_CHECKING:
    from fsgreen.cluster import Borrowed

FEWEST_RAN = 5
"""Stages whose pace tells something of those to come: campaigns begin with their longest ones."""

LATE = (
    "fsgreen.cli",
    "matplotlib_inline.backend_inline",
    "seaborn",
    "statsmodels.regression.mixed_linear_model",
    "typst",
)
"""Packages that the library imports only where they are needed: most campaigns need them."""

FORKER_GONE = 255
"""What `multiprocessing` says of a process if the one that it was forked from has ended first."""


class Run:
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
        self._forks.set_forkserver_preload(["fsgreen.pipeline.cells", *modules(), *LATE])
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
    gc.freeze()  # what was imported ahead is no garbage, and need not be looked through
    sys.argv = shlex.split(command)
    (program,) = entry_points(group="console_scripts", name=sys.argv[0])
    with entered(executor):
        sys.exit(program.load()())
