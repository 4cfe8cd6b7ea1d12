"""Where an analysis meets those who lend it cores: an address, and what both sides show there.

As in a fleet, whose registry and certificates these are, without testbeds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from pydantic import ValidationError

from fsgreen.errors import FsgreenError
from fsgreen.fleet.fleetfile import Fleet, Table
from fsgreen.fleet.required import require

WHERE = "--cluster"


def at(address: str, certificates: Path | None) -> Fleet:
    """Return the place at an address.

    The address is HOST:PORT, of the machine that analyses; `fsgreen fleet certificates` makes the
    folder `certificates`. Raises FsgreenError if that is no address, other machines could reach it
    and nobody would show a certificate, there are no such certificates, or Dask is not installed.
    """
    require()
    from fsgreen.fleet.certificates import security

    try:
        Table(home=address, testbeds=("none",))
    except ValidationError as error:
        raise FsgreenError(
            f"'{address}' is no address",
            where=WHERE,
            next_step="HOST:PORT of the machine that analyses, as 192.0.2.7:8787; for processes of "
            "this machine alone: localhost:8787",
        ) from error
    # A stage works in another folder than that in which the command was typed.
    folder = None if certificates is None else certificates.resolve()
    place = Fleet(file=Path(WHERE), home=address, testbeds=(), certificates=folder)
    if certificates is None and not place.is_local:
        raise FsgreenError(
            f"other machines could reach {address}, and nobody would ask them who they are",
            where=WHERE,
            next_step="fsgreen fleet certificates certificates, once; then the same command with "
            "--certificates certificates, here and where cores are lent",
        )
    security(place)  # says what is wrong with the certificates
    return place


@contextmanager
def gathering(place: Fleet) -> Iterator[None]:
    """Have those register at a place who lend cores there, as long as the block lasts.

    Raises FsgreenError if nobody can listen at that address.
    """
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    def listen() -> None:
        try:
            asyncio.run(_listen(place, begun))
        except Exception as error:
            if begun.done():
                raise
            begun.set_exception(error)

    thread = Thread(target=listen, name="cluster")
    thread.start()
    try:
        loop, ended = begun.result()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(ended.set)
    finally:
        thread.join()


async def _listen(
    place: Fleet, begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]
) -> None:
    from fsgreen.fleet import membership

    membership.begin()
    try:
        registry = await membership.Registry(place)
    except (OSError, RuntimeError) as error:
        raise FsgreenError(
            f"nobody can listen at {place.home}: {error.__cause__ or error}",
            where=WHERE,
            next_step="name an address of this machine, and a port that is free",
        ) from error
    async with registry:
        ended = asyncio.Event()
        begun.set_result((asyncio.get_running_loop(), ended))
        await ended.wait()
