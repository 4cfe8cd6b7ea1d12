"""A worker: it offers one testbed to the home of its fleet, whenever that is there."""

from __future__ import annotations

import asyncio
import ssl

from distributed.core import rpc

from fsgreen import paths
from fsgreen.campaign import testbedfile
from fsgreen.errors import FsgreenError
from fsgreen.fleet import membership
from fsgreen.fleet.certificates import security
from fsgreen.fleet.fleetfile import Fleet
from fsgreen.fleet.harness import Harness
from fsgreen.fleet.tasks import Tasks

LOOK_S = 1.0
"""Between two looks whether home is there."""


async def serve(fleet: Fleet, testbed: str, choice: str) -> None:
    """Offer a testbed until this is interrupted.

    `choice` is what `fsgreen measure` takes for a testbed: a kind, or a testbed file. Raises
    FsgreenError if the fleet has no such testbed, there is none of this choice, or home shows a
    certificate of another fleet.
    """
    fleet.check_testbed(testbed)
    testbedfile.read(choice)
    data = paths.data() / "fleet" / testbed
    harness = Harness(testbed, choice, data)
    tasks = Tasks(testbed, harness, data)
    try:
        while True:
            await _home(fleet)
            await _offer(membership.Offer(fleet, testbed, tasks.perform), fleet)
            harness.let_go()
    finally:
        await harness.stop()


async def _offer(offer: membership.Offer, fleet: Fleet) -> None:
    """Offer a testbed until home is gone."""
    try:
        await offer
    except RuntimeError as error:
        print(f"home does not take {offer.name}, trying again: {error.__cause__}", flush=True)
        await asyncio.sleep(LOOK_S)
        return
    try:
        print(f"{offer.name} is offered to {fleet.home}", flush=True)
        await offer.finished()
        print(f"home at {fleet.home} is gone", flush=True)
    finally:
        await offer.close()


async def _home(fleet: Fleet) -> None:
    """Return once home is there; say once that it is waited for."""
    shown = security(fleet).get_connection_args("worker")
    told = False
    while True:
        try:
            async with rpc(membership.address(fleet), connection_args=shown) as home:
                await home.identity()
            return
        except OSError as error:
            if _is_of_certificates(error):
                raise FsgreenError(
                    f"the program that listens at {fleet.home} is not of this fleet: {error}",
                    where=fleet.certificates,
                    next_step="copy the folder of certificates from home again",
                ) from error
        if not told:
            print(f"waiting for home at {fleet.home} (Ctrl-C stops waiting)", flush=True)
        told = True
        await asyncio.sleep(LOOK_S)


def _is_of_certificates(error: BaseException | None) -> bool:
    """Return whether an error comes of certificates that do not fit."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__
    return error is not None
