"""A block stream over TCP or UDP: a sensor of ours on the LAN (`block_format`)."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.description import BlocksSettings, description
from fsgreen.meters.blocks.format import (
    Address,
    Block,
    address_of,
    blocks_of,
    family_of,
    foreign_version,
)
from fsgreen.meters.blocks.parser import BlockParser
from fsgreen.meters.common.live import Streamed
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver, Meter
from fsgreen.trace import MeterInfo

WAIT_S = 5.0
"""The longest time for a sender to call or answer, and to send its first block: it sends each
second, and calls again each second."""

RECEIVED_B = 1 << 18
BUFFER_B = 1 << 20

Dial = Callable[[], socket.socket]
Describe = Callable[[Block], MeterInfo]


class BlockMeter(Streamed):
    """One sender; `dial` returns a socket that its blocks come from.

    The socket is open from `start` to `stop`: blocks sent between trials are never read. Each start
    waits for a block, and the sender must be the same as at first. Raises FsgreenError if nothing
    comes, or if it is no block stream.
    """

    def __init__(self, address: str, dial: Dial, describe: Describe) -> None:
        self._address = address
        self._dial = dial
        self._describe = describe
        self._socket: socket.socket | None = None
        self._unread: list[Chunk] = []
        self._info = self._identified()
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether there is a socket."""
        return self._socket is not None

    def start(self) -> None:
        """Start to receive, and wait for the first whole block."""
        self.close()
        super().start()

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the bytes that came, with the time of their end; None after `timeout_s`."""
        return self._unread.pop(0) if self._unread else self._received(timeout_s)

    def close(self) -> None:
        """Hang up. It may be repeated."""
        self._unread = []
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _open(self) -> None:
        self._socket = self._dial()
        self._socket.setblocking(False)

    def _begin(self) -> None:
        """Do nothing: a sender sends all the time."""

    def _end(self) -> None:
        self.close()

    def _identify(self) -> MeterInfo:
        """Wait for the first whole block and describe its sender; keep all bytes for `read`."""
        data = b""
        deadline_s = time.monotonic() + WAIT_S
        while (left_s := deadline_s - time.monotonic()) > 0:
            if (chunk := self._received(left_s)) is None:
                break
            self._unread.append(chunk)
            data += chunk.data
            blocks, rest = blocks_of(data)
            if blocks:
                return self._describe(blocks[0])
            if not rest:
                break
        if (version := foreign_version(data)) is not None:
            raise self._error(
                f"the sender speaks version {version} of the block format",
                "run sender and receiver of one version of fsgreen",
            )
        if data:
            raise self._error(
                "the bytes that come are no block stream", "check the address of the sender"
            )
        raise self._error(f"no block within {WAIT_S:g} s", "see that the sender runs")

    def _received(self, timeout_s: float) -> Chunk | None:
        if self._socket is None:
            raise self._error("the meter is not started", "start it before reading")
        try:
            if not select.select([self._socket], [], [], timeout_s)[0]:
                return None
            data = b""
            while len(data) < BUFFER_B:
                try:
                    piece = self._socket.recv(RECEIVED_B)
                except BlockingIOError:
                    break
                if not piece and self._socket.type == socket.SOCK_STREAM:
                    break
                data += piece
        except OSError as error:
            raise self._vanished(str(error.strerror)) from error
        if not data:
            raise self._vanished("it hung up")
        return Chunk(time.monotonic(), data)

    def _vanished(self, how: str) -> FsgreenError:
        self.close()
        return self._error(f"the sender vanished: {how}", "see that it runs; it calls again itself")

    def _error(self, what: str, next_step: str) -> FsgreenError:
        return FsgreenError(what, where=self._address, next_step=next_step)


def open_blocks(settings: BlocksSettings, _: DeviceOf) -> Meter:
    """Open the sender that the settings name; raises FsgreenError."""
    address = settings.address
    where = address_of(address)

    def described(block: Block) -> MeterInfo:
        return description(block, settings)

    if settings.connect:
        return BlockMeter(address, lambda: _called(where, address), described)
    answer = _answered if settings.protocol == "tcp" else _bound
    return BlockMeter(address, lambda: answer(where, address), described)


def _called(where: Address, address: str) -> socket.socket:
    try:
        return socket.create_connection(where, WAIT_S)
    except OSError as error:
        raise FsgreenError(
            f"the sender does not answer: {error.strerror or error}",
            where=address,
            next_step="start it there: python -m fsgreen.meters.blocks.sender --listen PORT ...",
        ) from error


def _answered(where: Address, address: str) -> socket.socket:
    try:
        with socket.create_server(where, family=family_of(where), backlog=1) as server:
            server.settimeout(WAIT_S)
            return server.accept()[0]
    except TimeoutError as error:
        raise FsgreenError(
            f"no sender called within {WAIT_S:g} s",
            where=address,
            next_step="start it: python -m fsgreen.meters.blocks.sender --to HOST:PORT ...",
        ) from error
    except OSError as error:
        raise _unusable(address, error) from error


def _bound(where: Address, address: str) -> socket.socket:
    bound = socket.socket(family_of(where), socket.SOCK_DGRAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_B)
        bound.bind(where)
    except OSError as error:
        bound.close()
        raise _unusable(address, error) from error
    return bound


def _unusable(address: str, error: OSError) -> FsgreenError:
    return FsgreenError(
        f"this address cannot be opened: {error.strerror or error}",
        where=address,
        next_step="take another port, or find the program that uses this port: ss -lntup",
    )


DRIVER = Driver(
    name="blocks",
    kind="stream",
    summary="samples from a sender of ours over TCP or UDP, such as a 10 kHz Hall sensor",
    settings=BlocksSettings,
    open=open_blocks,
    parser=BlockParser,
    emulator="fsgreen.meters.blocks.emulator:of_power",
    disk_emulator="fsgreen.meters.blocks.disk:DiskSender",
)
