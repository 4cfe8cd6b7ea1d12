"""Home: what lets every testbed of a fleet measure, and brings their trials here.

Each testbed goes on for itself: it measures until it is at rest, and what it has measured is
brought home before it goes on, so that nothing is sent beside a trial. (Where a worker alone was
killed, the next one cannot see the trial that still runs, and sends beside it.) Whatever ends
meanwhile, the same command goes on: a worker has its trials on disk before home hears of them.
"""

from __future__ import annotations

import asyncio

from fsgreen import paths, trial
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet.carry import Folder, carry
from fsgreen.fleet.fleetfile import Fleet, member
from fsgreen.fleet.membership import Registry
from fsgreen.fleet.messages import Order, Piece, Place, Rest, Shelf, Which
from fsgreen.fleet.record import Board, Doing
from fsgreen.fleet.remote import Lost, Remote
from fsgreen.words import plural

FALLS = 3
"""How often in a row the process that measures may end without a word and without a trial."""

PAUSE_S = 1.0
"""Between the loss of a worker and the next look for it."""


class Home:
    """Measures an order on all testbeds of a fleet.

    Parameters
    ----------
    fleet : Fleet
        Who belongs to it.
    order : Order
        What is measured.
    board : Board
        Where it is noted who does what.
    """

    def __init__(self, fleet: Fleet, order: Order, board: Board) -> None:
        self._fleet, self._order, self._board = fleet, order, board
        self.refused: dict[str, FsgreenError] = {}
        """Why a testbed does not go on, by its name."""

    async def run(self) -> None:
        """Return once every testbed is done, or does not go on.

        Raises
        ------
        FsgreenError
            If home cannot listen, or its disk is full.
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
        campaign = Campaign(member(self._order.campaign, testbed))
        if (campaign.folder / paths.PLAN).exists() and not campaign.pending():
            self._note(testbed, "done", "all of its trials are here")
            return
        self._note(testbed, "waits", "for its worker")
        while True:
            address = await registry.address_of(testbed)
            try:
                await self._measure(campaign, testbed, Remote(registry.rpc(address), testbed))
                return
            except Lost as error:
                self._note(testbed, "lost", f"its worker does not answer: {error}")
                await asyncio.sleep(PAUSE_S)
            except trial.DiskFull:
                raise
            except FsgreenError as error:
                self._refuse(testbed, error)
                return
            except OSError as error:
                told = f"what the testbed {testbed} has cannot be kept here: {error}"
                step = "look at this folder and its disk, then start the same command again"
                self._refuse(testbed, FsgreenError(told, where=campaign.folder, next_step=step))
                return

    async def _measure(self, campaign: Campaign, testbed: str, remote: Remote) -> None:
        which = Which(campaign=self._order.campaign)
        rest, falls = Rest(state="rest"), 0

        async def fetch(folder: Folder | None, name: str | None, file: str, at_b: int) -> Piece:
            place = Place(
                campaign=which.campaign, folder=folder, trial=name, file=file, offset_b=at_b
            )
            return await remote.ask("piece", place, Piece)

        while True:
            self._board.note(testbed, "brings", rested_s=rest.rested_s)
            came = await carry(campaign, await remote.ask("shelf", which, Shelf), fetch)
            if came:
                due, left = len(campaign.due()), len(campaign.pending())
                print(f"{testbed}: {due - left} of {due} trials are here", flush=True)
            falls = falls + 1 if rest.state == "fell" and not came else 0
            if rest.state == "done":
                _check_whole(campaign, testbed)
                self._note(testbed, "done", "all of its trials are here")
                return
            if rest.why is not None and (rest.state == "refused" or falls == FALLS):
                raise rest.why.error()
            self._board.note(testbed, "measures")
            rest = await remote.ask("measure", self._order, Rest)

    def _refuse(self, testbed: str, error: FsgreenError) -> None:
        self.refused[testbed] = error
        self._note(testbed, "refused", error.what)

    def _note(self, testbed: str, doing: Doing, told: str) -> None:
        self._board.note(testbed, doing, told)
        print(f"{testbed}: {doing}: {told}", flush=True)


def _check_whole(campaign: Campaign, testbed: str) -> None:
    """Refuse the word of a testbed that it is done while trials are not here."""
    pending = [planned.trial for planned in campaign.pending()]
    if pending:
        raise FsgreenError(
            f"the testbed is done, and {plural(len(pending), 'trial')} of its plan did not come, "
            f"{pending[0]} first: what is set aside at home alone is not measured anew",
            where=campaign.folder,
            next_step="set them aside at both places: move them from trials/ into discarded/ below "
            f"data/fleet/{testbed}/raw/{campaign.name} on the testbed's machine, too, then start "
            "the same command again",
        )
