"""The block stream: samples of one or several channels, which our sender puts on a LAN.

All numbers are little-endian. A block is

    4  magic `FSGB`                            8  rate, samples a second (float64)
    1  version, 1                              16 serial number of the sensor (UTF-8, NULs after)
    1  channels, 1 to 8                        1  1 if the samples are of a model, else 0
    2  samples a channel, 1 to 65535           3  zero
    4  sequence: one more each block           40 for each channel: gain, offset (float64), lowest
    4  stream: a random number a start            and highest value of the converter (int16), unit
    8  number of the first sample                 (V, A or W; 4 bytes), name (16 bytes)
    8  t0: its time, ns                        4  CRC-32 of all bytes before
    8  time of sending, ns                     2  for each sample, channel by channel (int16)
                                               4  CRC-32 of the samples

Times are of the sender's own clock, from any origin. A channel's value is gain x sample + offset.
Blocks follow each other without a gap; over UDP each block is a datagram.
"""

from __future__ import annotations

import math
import re
import socket
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

MAGIC = b"FSGB"
VERSION = 1
_HEAD = struct.Struct("<4sBBHIIQQQd16sB3x")
_CHANNEL = struct.Struct("<ddhh4s16s")
_SUM = struct.Struct("<I")
_DECLARED = re.compile(r"(.+) ([VAW]) (\S+) (\S+)(?: (-?\d+) (-?\d+))?")

MAX_CHANNELS = 8
MAX_SAMPLES = 0xFFFF
MAX_RATE_HZ = 1e6
MAX_NUMBER = 1 << 53
UNITS = ("V", "A", "W")

UDP_BLOCK_B = 1232
"""The largest datagram that no network splits: IPv6's 1280 bytes less its and UDP's headers."""

TCP_BLOCK_B = 65536

Address = tuple[str, int]
Samples = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, whose samples mean `gain` x sample + `offset` in its unit.

    `low` and `high` are the converter's ends: a sample there may stand for a value beyond.
    """

    name: str
    unit: str
    gain: float
    offset: float
    low: int = -32768
    high: int = 32767

    @property
    def sound(self) -> bool:
        """Whether samples can be converted."""
        return (
            self.unit in UNITS
            and self.name != ""
            and math.isfinite(self.gain)
            and self.gain != 0
            and math.isfinite(self.offset)
            and self.low < self.high
        )

    @classmethod
    def of(cls, text: str) -> Channel:
        """Parse `NAME UNIT GAIN OFFSET [LOW HIGH]`; raises ValueError."""
        match = _DECLARED.fullmatch(" ".join(text.split()))
        if match is None:
            raise ValueError(f"{text!r} is not NAME UNIT GAIN OFFSET [LOW HIGH]")
        name, unit, gain, offset, *given = match.groups()
        ends = [int(end) for end in given if end is not None] or [-32768, 32767]
        channel = cls(name, unit, float(gain), float(offset), *ends)
        inside = -32768 <= min(ends) <= max(ends) <= 32767
        if not channel.sound or not inside or len(name.encode()) > 16:
            raise ValueError(
                f"{text!r}: a name has at most 16 bytes, a gain is not 0, LOW and HIGH are int16"
            )
        return channel

    def samples(self, values: NDArray[np.float64]) -> Samples:
        """Return the samples that the channel's converter makes of values; it clips at its ends."""
        steps = np.rint((values - self.offset) / self.gain)
        return np.clip(steps, self.low, self.high).astype(np.int16)


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `samples` has one row for each sample and one column for each channel."""

    sequence: int
    stream: int
    first: int
    t0_ns: int
    sent_ns: int
    rate_hz: float
    serial: str
    modelled: bool
    channels: tuple[Channel, ...]
    samples: Samples

    def packed(self) -> bytes:
        """Return the bytes of the block."""
        head = _HEAD.pack(
            MAGIC,
            VERSION,
            len(self.channels),
            len(self.samples),
            self.sequence,
            self.stream,
            self.first,
            self.t0_ns,
            self.sent_ns,
            self.rate_hz,
            self.serial.encode(),
            self.modelled,
        )
        for c in self.channels:
            unit, name = c.unit.encode(), c.name.encode()
            head += _CHANNEL.pack(c.gain, c.offset, c.low, c.high, unit, name)
        data = np.ascontiguousarray(self.samples, dtype="<i2").tobytes()
        return b"".join((head, _SUM.pack(zlib.crc32(head)), data, _SUM.pack(zlib.crc32(data))))

    def split(self, block_b: int) -> list[Block]:
        """Split the block into blocks of at most `block_b` bytes, numbered from its own number."""
        width = len(self.channels)
        most = min((block_b - header_b(width) - _SUM.size) // (2 * width), MAX_SAMPLES)
        parts = []
        for nth, start in enumerate(range(0, len(self.samples), most)):
            parts.append(
                replace(
                    self,
                    sequence=(self.sequence + nth) % (1 << 32),
                    first=self.first + start,
                    t0_ns=self.t0_ns + round(1e9 * start / self.rate_hz),
                    samples=self.samples[start : start + most],
                )
            )
        return parts


def header_b(channels: int) -> int:
    """Return the size of a header with its checksum."""
    return _HEAD.size + channels * _CHANNEL.size + _SUM.size


def blocks_of(data: bytes) -> tuple[list[Block], bytes]:
    """Return the whole blocks in some bytes, and the bytes of an unfinished block at the end.

    A header counts only if its checksum is right, so that a corrupt header causes no waiting and
    no allocation; no whole block holds more than a megabyte. Bytes that are no block are skipped.
    """
    blocks: list[Block] = []
    at = 0
    while (at := data.find(MAGIC, at)) >= 0:
        if len(data) < at + _HEAD.size:
            return blocks, data[at:]
        version, channels, count = data[at + 4], data[at + 5], data[at + 6] | data[at + 7] << 8
        if version != VERSION or not 1 <= channels <= MAX_CHANNELS or not count:
            at += 1
            continue
        start = at + header_b(channels)
        end = start + 2 * channels * count
        if len(data) < start:
            return blocks, data[at:]
        if zlib.crc32(data[at : start - _SUM.size]) != _SUM.unpack_from(data, start - _SUM.size)[0]:
            at += 1
            continue
        if len(data) < end + _SUM.size:
            return blocks, data[at:]
        block = None
        if zlib.crc32(data[start:end]) == _SUM.unpack_from(data, end)[0]:
            block = _block(data, at, channels, count)
        if block is None:
            at = start
        else:
            blocks.append(block)
            at = end + _SUM.size
    return blocks, data[-len(MAGIC) + 1 :] if _may_begin(data) else b""


def foreign_version(data: bytes) -> int | None:
    """Return the version of the first block in some bytes if it is not ours, else None."""
    at = data.find(MAGIC)
    if at < 0 or len(data) <= at + len(MAGIC):
        return None
    return None if data[at + len(MAGIC)] == VERSION else data[at + len(MAGIC)]


def _may_begin(data: bytes) -> bool:
    return any(data.endswith(MAGIC[:size]) for size in range(1, len(MAGIC)))


def _block(data: bytes, at: int, channels: int, count: int) -> Block | None:
    """Return a block whose checksums are right; None if its fields are not sound."""
    sequence, stream, first, t0_ns, sent_ns, rate_hz, serial, modelled = _HEAD.unpack_from(
        data, at
    )[4:]
    if not 0 < rate_hz <= MAX_RATE_HZ or first > MAX_NUMBER or sent_ns < t0_ns:
        return None
    at += _HEAD.size
    try:
        known = tuple(_channels(data, at, channels))
        serial = _text(serial)
    except UnicodeDecodeError:
        return None
    if not all(channel.sound for channel in known):
        return None
    samples = np.frombuffer(
        data, dtype="<i2", count=count * channels, offset=at + channels * _CHANNEL.size + _SUM.size
    ).reshape(count, channels)
    return Block(
        sequence, stream, first, t0_ns, sent_ns, rate_hz, serial, bool(modelled), known, samples
    )


def _channels(data: bytes, at: int, channels: int) -> Iterator[Channel]:
    for nth in range(channels):
        gain, offset, low, high, unit, name = _CHANNEL.unpack_from(data, at + nth * _CHANNEL.size)
        yield Channel(_text(name), _text(unit), gain, offset, low, high)


def _text(field: bytes) -> str:
    return field.rstrip(b"\0").decode()


def address_of(text: str) -> Address:
    """Split `HOST:PORT`, or `PORT` on this machine; raises ValueError."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def family_of(address: Address) -> socket.AddressFamily:
    """Return the family of an address: IPv6, or IPv4, which names are also taken for."""
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET
