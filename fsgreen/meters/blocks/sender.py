"""Send a block stream to a receiver: samples of a file, of a program, or made up.

    adc-reader | python -m fsgreen.meters.blocks.sender --to 192.168.1.5:5005 --rate 10000 \\
        --serial hall-3 --channel "5V A 0.00122 -2.5" --channel "5V V 0.00161 0"

The samples are int16, little-endian, channel by channel. While there is no receiver, samples are
counted and thrown away: the next receiver sees that they are lost.
"""

from __future__ import annotations

import argparse
import io
import secrets
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from fsgreen.meters.blocks.format import (
    MAX_CHANNELS,
    MAX_RATE_HZ,
    TCP_BLOCK_B,
    UDP_BLOCK_B,
    Address,
    Block,
    Channel,
    Samples,
    address_of,
    family_of,
)
from fsgreen.meters.core.readings import Floats

Timed = tuple[int, Samples]
"""The time of the first of some samples in ns, and the samples."""

RETRY_S = 1.0
STUCK_S = 1.0
"""If a receiver takes nothing for so long, the sender hangs up."""

SYNTHETIC = "synthetic"


def paced(take: Callable[[int, int], Samples], rate_hz: float, every_s: float) -> Iterator[Timed]:
    """Yield the samples that `take(first, count)` returns, at the pace of a converter.

    It ends when `take` has no more.
    """
    began_ns = time.monotonic_ns()
    count = max(1, round(rate_hz * every_s))
    first = 0
    while len(samples := take(first, count)):
        due_ns = began_ns + round((first + len(samples)) * 1e9 / rate_hz)
        time.sleep(max(0, due_ns - time.monotonic_ns()) * 1e-9)
        yield began_ns + round(first * 1e9 / rate_hz), samples
        first += len(samples)


def arriving(source: BinaryIO, channels: int, rate_hz: float, every_s: float) -> Iterator[Timed]:
    """Yield samples when a program delivers them; the last of a batch was taken on arrival."""
    count = max(1, round(rate_hz * every_s))
    while len(data := source.read(2 * channels * count)) >= 2 * channels:
        samples = samples_of(data, channels)
        yield time.monotonic_ns() - round((len(samples) - 1) * 1e9 / rate_hz), samples


def samples_of(data: bytes, channels: int) -> Samples:
    """Return the whole samples in some bytes."""
    whole = len(data) - len(data) % (2 * channels)
    return np.frombuffer(data[:whole], dtype="<i2").reshape(-1, channels)


def loaded(
    channels: Sequence[Channel], rate_hz: float, load_a: Callable[[Floats], Floats], volts: float
) -> Callable[[int, int], Samples]:
    """Return a `take` for `paced`: samples of a load with amperes by time and one voltage."""

    def take(first: int, count: int) -> Samples:
        time_s = (first + np.arange(count)) / rate_hz
        current_a = np.broadcast_to(load_a(time_s), count)
        values = {"A": current_a, "V": np.full(count, volts), "W": volts * current_a}
        return np.column_stack([c.samples(values[c.unit]) for c in channels])

    return take


def made_up_a(time_s: Floats) -> Floats:
    """Return 0.2 A in one second and 1.2 A in the next, by turns."""
    return np.where(time_s % 2 >= 1, 1.2, 0.2)


class Link:
    """A link to a receiver that comes and goes: it calls, waits for calls, or sends datagrams."""

    def __init__(self, address: Address, protocol: str = "tcp", *, listen: bool = False) -> None:
        self._address = address
        self.datagrams = protocol == "udp"
        self._server: socket.socket | None = None
        self._line: socket.socket | None = None
        self._tried_s = float("-inf")
        if listen:
            self._server = socket.create_server(address, family=family_of(address))
            self._server.setblocking(False)
            self.port = int(self._server.getsockname()[1])

    def put(self, pieces: Sequence[bytes]) -> None:
        """Send all to the receiver, if there is one."""
        try:
            line = self._opened()
            if line is None:
                return
            for piece in pieces:
                if self.datagrams:
                    line.sendto(piece, self._address)
                else:
                    line.sendall(piece)
        except OSError:
            self.hang_up()

    def hang_up(self) -> None:
        """Drop the receiver, which may come again."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def close(self) -> None:
        """Release the port."""
        self.hang_up()
        if self._server is not None:
            self._server.close()

    def _opened(self) -> socket.socket | None:
        """Return the line to the receiver, which may have hung up or called again."""
        talking = [] if self._line is None or self.datagrams else [self._line]
        if select.select(talking, [], [], 0)[0]:  # a receiver says nothing but its end
            self.hang_up()
        if self._line is None and self._server is not None:
            with suppress(BlockingIOError):
                self._line = self._server.accept()[0]
                self._line.settimeout(STUCK_S)
        elif self._line is None and time.monotonic() - self._tried_s > RETRY_S:
            self._tried_s = time.monotonic()
            if self.datagrams:
                self._line = socket.socket(family_of(self._address), socket.SOCK_DGRAM)
            else:
                self._line = socket.create_connection(self._address, STUCK_S)
        return self._line


class Sender:
    """Count samples, make blocks of them, and put them on a link.

    `clock_ns` gives the times of samples and of sending.
    """

    def __init__(
        self,
        link: Link,
        channels: Sequence[Channel],
        rate_hz: float,
        serial: str,
        *,
        modelled: bool = False,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._link = link
        self._clock_ns = clock_ns
        self._block_b = UDP_BLOCK_B if link.datagrams else TCP_BLOCK_B
        nothing = np.empty((0, len(channels)), dtype=np.int16)
        self._next = Block(
            sequence=0,
            stream=secrets.randbits(32),
            first=0,
            t0_ns=0,
            sent_ns=0,
            rate_hz=rate_hz,
            serial=serial,
            modelled=modelled,
            channels=tuple(channels),
            samples=nothing,
        )

    def send(self, t0_ns: int, samples: Samples) -> None:
        """Send samples; the first was taken at `t0_ns`."""
        batch = replace(self._next, t0_ns=t0_ns, samples=samples)
        blocks = batch.split(self._block_b)
        sent_ns = max(self._clock_ns(), blocks[-1].t0_ns)
        self._link.put([replace(b, sent_ns=sent_ns).packed() for b in blocks])
        self._next = replace(
            self._next,
            sequence=(self._next.sequence + len(blocks)) % (1 << 32),
            first=self._next.first + len(samples),
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Send until the source ends, or until Ctrl-C."""
    options = _options(arguments)
    try:
        source = sys.stdin.buffer if options.source == "-" else _source(options.source)
        link = Link(options.to or options.listen, options.protocol, listen=not options.to)
    except OSError as error:
        raise SystemExit(f"block_sender: {error}") from error
    modelled = options.source == SYNTHETIC
    sender = Sender(link, options.channel, options.rate, options.serial, modelled=modelled)
    with source, closing(link), suppress(KeyboardInterrupt):
        for t0_ns, samples in _batches(options, source):
            sender.send(t0_ns, samples)


def _source(source: str) -> BinaryIO:
    return io.BytesIO() if source == SYNTHETIC else Path(source).open("rb")


def _batches(options: argparse.Namespace, source: BinaryIO) -> Iterator[Timed]:
    channels, rate_hz, every_s = options.channel, options.rate, options.every
    if options.source == "-":
        return arriving(source, len(channels), rate_hz, every_s)
    if options.source == SYNTHETIC:
        return paced(loaded(channels, rate_hz, made_up_a, 5.0), rate_hz, every_s)

    def take(_: int, count: int) -> Samples:
        return samples_of(source.read(2 * len(channels) * count), len(channels))

    return paced(take, rate_hz, every_s)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m fsgreen.meters.blocks.sender",
        description="Send int16 samples to the driver `blocks`.",
    )
    end = parser.add_mutually_exclusive_group(required=True)
    end.add_argument("--to", type=address_of, metavar="HOST:PORT", help="call this receiver")
    end.add_argument(
        "--listen", type=address_of, metavar="[HOST:]PORT", help="wait for a receiver (TCP)"
    )
    parser.add_argument("--protocol", choices=("tcp", "udp"), default="tcp")
    parser.add_argument(
        "--source",
        default="-",
        help=f"a file of samples, - for standard input (default), or {SYNTHETIC}: a made-up load",
    )
    parser.add_argument("--rate", type=_above_0, required=True, help="samples a second")
    parser.add_argument(
        "--channel",
        type=_channel,
        action="append",
        required=True,
        metavar='"NAME UNIT GAIN OFFSET [LOW HIGH]"',
        help="unit V, A or W; value = GAIN x sample + OFFSET; LOW and HIGH: the converter's ends",
    )
    parser.add_argument("--serial", default=socket.gethostname()[:16], help="of the sensor")
    parser.add_argument(
        "--every", type=_above_0, default=1.0, metavar="S", help="send so often (default 1 s)"
    )
    options = parser.parse_args(arguments)
    if options.listen and options.protocol == "udp":
        parser.error("a sender of UDP cannot listen: give --to")
    if len(options.channel) > MAX_CHANNELS:
        parser.error(f"no more than {MAX_CHANNELS} channels")
    if not 0 < len(options.serial.encode()) <= 16:
        parser.error("a serial number has 1 to 16 bytes")
    if options.rate > MAX_RATE_HZ:
        parser.error(f"no more than {MAX_RATE_HZ:g} samples a second")
    return options


def _channel(text: str) -> Channel:
    try:
        return Channel.of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _above_0(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(f"{text} is not above 0")
    return value


if __name__ == "__main__":
    main()
