"""Home: it has trials reduced by those who lend their cores, and puts what comes in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from distributed.core import rpc

from fsgreen.cluster import reduction, sources
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError
from fsgreen.fleet import membership
from fsgreen.fleet.certificates import security
from fsgreen.fleet.fleetfile import Fleet
from fsgreen.fleet.remote import Lost, Remote
from fsgreen.reduce.parts import Part, WithAttached, reduced

LOOK_S = 0.5
"""Between two looks at who lends cores."""


class Reduction:
    """Trials of a plan that are reduced by whoever lends a core at a place.

    Each core has one trial at a time; that of a core which is lost is given to another.
    """

    def __init__(self, place: Fleet, plan: Plan, trials: Sequence[WithAttached]) -> None:
        self._place, self._plan, self._trials = place, plan, trials
        self._plan_text = reduction.plan_text(plan)
        self._shown = security(place).get_connection_args("client")
        self._left = deque(range(len(trials)))
        self._waits = False
        self._parts: dict[int, Part] = {}

    async def all(self) -> list[Part]:
        """Return what came of the trials, in their order; waits as long as nobody lends a core.

        Raises FsgreenError if a trial is not whole, home is gone, or another code of fsgreen would
        compute.
        """
        asked: dict[str, asyncio.Task[None]] = {}
        try:
            async with rpc(membership.address(self._place), connection_args=self._shown) as home:
                while len(self._parts) < len(self._trials):
                    await self._look(home, asked)
        finally:
            for one in asked.values():
                one.cancel()
            await asyncio.gather(*asked.values(), return_exceptions=True)
        return [self._parts[nth] for nth in range(len(self._trials))]

    async def _look(self, home: Any, asked: dict[str, asyncio.Task[None]]) -> None:
        """Ask those who lend a core and are not asked yet, and wait a moment for what comes."""
        if self._left:
            for address in await self._lent(home):
                if address not in asked:
                    asked[address] = asyncio.create_task(self._ask(address))
        if not asked and not self._waits:
            print(f"waiting for cores at {self._place.home}", flush=True)
        self._waits = not asked
        if not asked:
            await asyncio.sleep(LOOK_S)
            return
        done, _ = await asyncio.wait(
            asked.values(), timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED
        )
        for address in [address for address, one in asked.items() if one in done]:
            asked.pop(address).result()

    async def _lent(self, home: Any) -> Iterable[str]:
        try:
            return list((await home.identity())["workers"])
        except OSError as error:
            raise FsgreenError(
                f"the address at which cores are lent to this analysis stopped listening: {error}",
                where=self._place.home,
                next_step="type the same command again: it continues from there",
            ) from error

    async def _ask(self, address: str) -> None:
        """Have a core reduce one trial after the other, until none is left or it is lost."""
        async with rpc(address, connection_args=self._shown) as peer:
            remote = Remote(peer, f"the core at {address}")
            try:
                code = await remote.ask("code", sources.Nothing(), sources.Code)
                if code.sha256 != sources.digest():
                    raise FsgreenError(
                        "the machine there has another version of fsgreen or of a library",
                        where=address,
                        next_step="have the same checkout, and ./run environment, on both machines",
                    )
                while self._left:
                    nth = self._left.popleft()
                    try:
                        self._parts[nth] = await self._part(remote, self._trials[nth])
                    finally:
                        if nth not in self._parts:
                            self._left.append(nth)
            except Lost:  # its trial is another's now; it is asked again if it is still lent
                await asyncio.sleep(LOOK_S)

    async def _part(self, remote: Remote, with_attached: WithAttached) -> Part:
        try:
            if reduction.sent_b(with_attached[0]) <= reduction.SENT_B:
                sent = reduction.given(self._plan_text, with_attached)
                return reduction.part(await remote.ask("reduce", sent, reduction.Made))
        except (FsgreenError, OSError):
            pass  # this machine reduces it, or says what is wrong by the names that it has here
        return await asyncio.to_thread(reduced, self._plan, with_attached)
