"""Cores that are lent to an analysis at home: it has them reduce trials, by name, and nothing else.

Nothing of a trial is kept here.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from distributed.core import rpc

from fsgreen import executors
from fsgreen.cluster import sources
from fsgreen.cluster.reduction import Given, Made, made
from fsgreen.errors import FsgreenError, unknown
from fsgreen.fleet import membership
from fsgreen.fleet.certificates import security
from fsgreen.fleet.fleetfile import Fleet
from fsgreen.fleet.messages import Refusal, parsed
from fsgreen.schema import Strict
from fsgreen.words import plural


class Tasks:
    """The tasks that home may ask for. `start` starts the processes that do them."""

    def __init__(self, start: Callable[[], ProcessPoolExecutor]) -> None:
        self._start, self._processes = start, start()

    async def perform(self, task: object = None, arguments: object = None) -> dict[str, Any]:
        """Do a task and return `done` with its answer, or `refused` with what, where, next_step."""
        try:
            return {"done": (await self._done(task, arguments)).model_dump()}
        except FsgreenError as error:
            return {"refused": Refusal.of(error).model_dump()}

    async def _done(self, task: object, arguments: object) -> Strict:
        if task == "code":
            parsed(sources.Nothing, arguments, "home")
            return sources.Code(sha256=sources.digest())
        if task == "reduce":
            return await self._made(parsed(Given, arguments, "home"))
        raise unknown("task", task, ("code", "reduce"), where=socket.gethostname())

    async def _made(self, given: Given) -> Made:
        used = self._processes
        try:
            return await asyncio.get_running_loop().run_in_executor(used, made, given)
        except BrokenProcessPool as error:
            if self._processes is used:  # others that it had at work come here, too
                self._processes = self._start()
            raise FsgreenError(
                f"the process that reduced {given.trial} was ended",
                where=socket.gethostname(),
                next_step="the kernel ends a process that takes too much memory (dmesg, free -h)",
            ) from error

    def stop(self) -> None:
        """Begin nothing more, and return when what runs is done."""
        self._processes.shutdown(cancel_futures=True)


async def lend(place: Fleet, count: int) -> None:
    """Lend so many cores of this machine to the analysis at a place, until it ends.

    Raises FsgreenError if nobody analyses there, shows another certificate, or takes no core of
    this machine.
    """
    await _check(place)
    tasks = Tasks(lambda: executors.processes(count))
    name = f"{socket.gethostname()}-{secrets.token_hex(8)}"  # containers may be called alike
    offers = [membership.Offer(place, f"{name}-{nth}", tasks.perform) for nth in range(count)]
    try:
        await _register(place, offers)
        print(f"{plural(count, 'core')} lent to {place.home}, until that ends", flush=True)
        await asyncio.gather(*(offer.finished() for offer in offers))
    finally:
        await asyncio.gather(*(offer.close() for offer in offers), return_exceptions=True)
        tasks.stop()


async def _register(place: Fleet, offers: Sequence[membership.Offer]) -> None:
    try:
        await asyncio.gather(*offers)
    except RuntimeError as error:
        raise FsgreenError(
            f"{place.home} takes no core of this machine: {error.__cause__ or error}",
            where=place.home,
            next_step="type the same command again, if that machine still analyses",
        ) from error


async def _check(place: Fleet) -> None:
    """Refuse a place where nobody analyses: an offer would wait there without a word."""
    shown = security(place).get_connection_args("worker")
    try:
        async with rpc(membership.address(place), connection_args=shown) as home:
            await home.identity()
    except OSError as error:
        raise FsgreenError(
            f"nobody analyses at {place.home}: {error}",
            where=place.home,
            next_step=f"first type there: fsgreen reproduce --cluster {place.home}, with the same "
            "certificates; then type this command again",
        ) from error
