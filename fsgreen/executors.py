"""Who does a task on many items: this process, several of this machine, or those who were entered.

Whoever it is, what comes of each item is the same, and comes in the order of the items.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from typing import Protocol, TypeVar

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH_A_PROCESS = 250
"""Trials that take longer to reduce than a process takes to start."""


class Executor(Protocol):
    """Who does tasks."""

    def each(
        self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Iterable[Result]:
        """Return what a task, a function of a module, makes of each item with what is common."""


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, at most `jobs`; this one alone where others would not pay."""

    jobs: int

    def each(
        self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Iterator[Result]:
        """Yield what the task makes of each item, as soon as those before it are done."""
        do = partial(task, common)
        count = min(self.jobs, len(items) // WORTH_A_PROCESS)
        if count < 2:
            yield from map(do, items)
            return
        with processes(count) as pool:
            yield from pool.map(do, items, chunksize=8)


def processes(count: int) -> ProcessPoolExecutor:
    """Return so many processes, which end with this one, however it ends."""
    # Not forked: threads of numpy and pyarrow may hold locks.
    return ProcessPoolExecutor(count, get_context("spawn"), _end_with_parent)


def each(
    task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
) -> Iterable[Result]:
    """Return what a task makes of each item, in their order, by whoever was entered.

    Unless somebody was, that is all cores of this machine, or the one of a process that another
    has started.
    """
    executor = _entered.get()
    if executor is None:
        executor = Processes(len(os.sched_getaffinity(0)) if parent_process() is None else 1)
    return executor.each(task, common, items)


_entered: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def entered(executor: Executor) -> Iterator[None]:
    """Have it do the tasks of the block."""
    token = _entered.set(executor)
    try:
        yield
    finally:
        _entered.reset(token)


def _end_with_parent() -> None:
    """End this process when the one that has started it is gone: it may have been killed."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
