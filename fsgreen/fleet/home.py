"""Home: what lets every testbed of a fleet measure, and brings their trials here.

Each testbed goes on for itself: it measures until it is at rest, and what it has measured is
brought home before it goes on, so that nothing is sent beside a trial. (Where a worker alone was
killed, the next one cannot see the trial that still runs, and sends beside it.) Whatever ends
meanwhile, the same command goes on: a worker has its trials on disk before home hears of them.
"""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from fsgreen import trial
from fsgreen.campaign import Campaign
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError
from fsgreen.fleet.believed import Expected
from fsgreen.fleet.carry import Folder, carry
from fsgreen.fleet.fleetfile import Fleet
from fsgreen.fleet.membership import Registry
from fsgreen.fleet.messages import Order, Piece, Place, Rest, Shelf, Which
from fsgreen.fleet.record import Board, Doing
from fsgreen.fleet.remote import Lost, Remote
from fsgreen.fleet.replicate import Replicate
from fsgreen.fleet.shares import Shares
from fsgreen.fleet.turn import Turn
from fsgreen.words import plural

FALLS = 3
"""How often in a row the process that measures may end without a word and without a trial."""

POLL_S = 0.2
"""Between two looks for a worker that is not there yet."""

PAUSE_S = 1.0
"""Between two looks for a worker that was lost, or for a block that is left."""

Design: TypeAlias = Replicate | Shares
"""What decides what a testbed measures next."""


class Home:
    """Has all testbeds of a fleet measure.

    `design` is what each of them measures, and `board` is where it is noted who does what.
    """

    def __init__(self, fleet: Fleet, design: Design, board: Board) -> None:
        self._fleet, self._design, self._board = fleet, design, board
        self._turn = Turn()
        self.refused: dict[str, FsgreenError] = {}
        """Why a testbed does not go on, by its name."""

    async def run(self) -> None:
        """Return once every testbed is done, or does not go on.

        Raises FsgreenError if home cannot listen, or its disk is full.
        """
        try:
            registry = await Registry(self._fleet)
        except (OSError, RuntimeError) as error:
            raise FsgreenError(
                f"home cannot listen at {self._fleet.home}: {error.__cause__ or error}",
                where=self._fleet.file,
                next_step="if another fsgreen measures with this fleet, wait for it; else name an "
                "address of this machine, and a port that is free",
            ) from error
        async with registry:
            going = [
                asyncio.create_task(self._testbed(registry, name)) for name in self._fleet.testbeds
            ]
            try:
                await asyncio.gather(*going)
            finally:
                for task in going:
                    task.cancel()
                await asyncio.gather(*going, return_exceptions=True)

    async def _testbed(self, registry: Registry, testbed: str) -> None:
        campaign = Campaign(member(self._design.order.campaign, testbed))
        try:
            async with self._turn:
                self._board.count(testbed, self._design.count(testbed))
                if self._design.is_done(testbed):
                    self._note(testbed, "done", "all of its trials are here")
                    return
                self._note(testbed, "waits", "for its worker")
            while address := await self._address(registry, testbed):
                self._design.answers(testbed)
                try:
                    remote = Remote(registry.rpc(address), f"the testbed {testbed}")
                    await self._measure(campaign, testbed, remote)
                    return
                except Lost as error:
                    self._design.is_lost(testbed, for_good=False)
                    self._note(testbed, "lost", f"its worker does not answer: {error}")
                    await asyncio.sleep(PAUSE_S)
            self._note(testbed, "done", "others have measured what was left")
        except trial.DiskFull:
            raise
        except FsgreenError as error:
            self._refuse(testbed, error)
        except OSError as error:
            told = f"what the testbed {testbed} has cannot be kept here: {error}"
            step = "look at this folder and its disk, then start the same command again"
            self._refuse(testbed, FsgreenError(told, where=campaign.folder, next_step=step))

    async def _address(self, registry: Registry, testbed: str) -> str | None:
        """Return where the worker of a testbed listens, once it does; None if none is needed."""
        while (address := registry.address_of(testbed)) is None and not self._design.is_over:
            await asyncio.sleep(POLL_S)
        return address

    async def _measure(self, campaign: Campaign, testbed: str, remote: Remote) -> None:
        order, which = self._design.order, Which(campaign=self._design.order.campaign)
        expected = Expected(
            lambda plan: self._design.is_planned(plan, testbed),
            lambda name: self._design.planned(name, testbed),
            self._turn,
        )
        rest: Rest | None = None
        rested_s, falls = 0.0, 0

        async def fetch(folder: Folder | None, name: str | None, file: str, at_b: int) -> Piece:
            place = Place(
                campaign=which.campaign, folder=folder, trial=name, file=file, offset_b=at_b
            )
            return await remote.ask("piece", place, Piece)

        while True:
            async with self._turn:
                self._board.note(testbed, "brings", rested_s=rested_s)
            shelf = await remote.ask("shelf", which, Shelf)
            came = await carry(campaign, shelf, fetch, expected)
            if came:
                async with self._turn:
                    self._count(testbed)
            if rest is not None:
                falls = falls + 1 if rest.state == "fell" and not came else 0
                if rest.state == "done":
                    _check_whole(campaign, order, testbed)
                if rest.why is not None and (rest.state == "refused" or falls == FALLS):
                    self._give_up(testbed, order, rest.why.error())
                    rest, falls = None, 0
            if self._ends(testbed, rest):
                self._note(testbed, "done", "all of its trials are here")
                return
            order, has_waited = await self._next(testbed)
            async with self._turn:
                self._board.note(testbed, "measures", _spelled(order))
            rest = await remote.ask("measure", order, Rest)
            rested_s = 0.0 if has_waited else rest.rested_s

    def _ends(self, testbed: str, rest: Rest | None) -> bool:
        """Return whether a testbed is done with; where blocks are shared, it may not have begun."""
        at_end = self._design.is_over if rest is None else rest.state == "done"
        return at_end and self._design.is_done(testbed)

    async def _next(self, testbed: str) -> tuple[Order, bool]:
        """Return what a testbed measures next, and whether it had to wait for that."""
        order = self._design.next(testbed)
        if order is not None:
            return order, False
        self._note(testbed, "waits", "others are at all the blocks that are left")
        while order is None:
            await asyncio.sleep(PAUSE_S)
            order = self._design.next(testbed)
        return order, True

    def _count(self, testbed: str) -> None:
        count = self._design.count(testbed)
        of = f" of {count.due}" if count.due else ""
        print(f"{testbed}: {count.here}{of} trials are here", flush=True)
        self._board.count(testbed, count)

    def _give_up(self, testbed: str, order: Order, why: FsgreenError) -> None:
        """Have others take what a testbed refuses; raises `why` if that ends it."""
        self._design.gives_up(testbed, why)
        print(f"{testbed}: gives up {_spelled(order)}: {why.what}", flush=True)

    def _refuse(self, testbed: str, error: FsgreenError) -> None:
        self.refused[testbed] = error
        self._design.is_lost(testbed, for_good=True)
        self._note(testbed, "refused", error.what)

    def _note(self, testbed: str, doing: Doing, told: str) -> None:
        self._board.note(testbed, doing, told)
        print(f"{testbed}: {doing}: {told}", flush=True)


def _spelled(order: Order) -> str:
    return f"block {order.blocks[0]}" if order.blocks else ""


def _check_whole(campaign: Campaign, order: Order, testbed: str) -> None:
    """Refuse the word of a testbed that it is done while trials of the order are not here."""
    owing = campaign if order.design != "share" else Campaign(campaign.name, order.blocks)
    if pending := [planned.trial for planned in owing.pending()]:
        raise FsgreenError(
            f"the testbed is done, and {plural(len(pending), 'trial')} of its plan did not come, "
            f"{pending[0]} first: a trial that is set aside at home only is not measured again",
            where=campaign.folder,
            next_step="set them aside at both places: move them from trials/ into discarded/ below "
            f"data/fleet/{testbed}/raw/{campaign.name} on the testbed's machine, too, then start "
            "the same command again",
        )
