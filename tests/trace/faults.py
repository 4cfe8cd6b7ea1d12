"""A Watts Up on a known load, sound or with a fault of the meter, and faults of its bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from wattsup_texts import HEADER, VERSION, record

from fsgreen.meters.core.base import Chunk

LENGTH_S = 70
VOLTS, FACTOR = 120.1, 0.97


@dataclass(frozen=True)
class Load:
    """Power in steps: `levels_w` from each of `since_s` on."""

    since_s: tuple[float, ...]
    levels_w: tuple[float, ...]

    def energy_j(self, moment_s):
        """Return the energy up to a moment, exactly."""
        moment_s = np.asarray(moment_s, float)
        steps_w = np.diff(self.levels_w, prepend=0.0)
        parts = [
            step_w * np.clip(moment_s - begin_s, 0, None)
            for begin_s, step_w in zip(self.since_s, steps_w, strict=True)
        ]
        return np.sum(parts, axis=0)


@st.composite
def loads(draw):
    """Draw a server's load: up to ten steps between 60 W and 300 W."""
    levels_w = draw(st.lists(st.floats(60, 300), min_size=1, max_size=10))
    moments = st.lists(
        st.floats(1, LENGTH_S), min_size=len(levels_w) - 1, max_size=len(levels_w) - 1, unique=True
    )
    return Load((-10.0, *sorted(draw(moments))), tuple(levels_w))


@dataclass(frozen=True)
class Meter:
    """What the meter does, each as of a second or never; `sticks` at one for some seconds."""

    doubles_at: int | None = None
    cycles_at: int | None = None
    resets_at: int | None = None
    sticks: tuple[int, int] | None = None

    def records(self, load: Load, first_s: float) -> list[Chunk]:
        """Return the header and one chunk for each record, at the end of its interval."""
        chunks = [Chunk(first_s, HEADER.encode())]
        used_j = load.energy_j(first_s + np.arange(LENGTH_S + 1))
        last, cleared_j = 0, used_j[0]
        for second in range(1, LENGTH_S + 1):
            if self.doubles_at is not None and second >= self.doubles_at and second % 2:
                continue
            if second in (self.cycles_at, self.resets_at):
                cleared_j = used_j[second]
            power_w = (used_j[second] - used_j[last]) / (second - last)
            cycles = 3 + (self.cycles_at is not None and second >= self.cycles_at)
            data = text_of(power_w, (used_j[second] - cleared_j) / 3600, cycles).encode()
            if self.sticks and self.sticks[0] < second <= sum(self.sticks):
                data = chunks[-1].data
            chunks.append(Chunk(first_s + second, data))
            last = second
        return chunks


def text_of(power_w: float, energy_wh: float, cycles: int) -> str:
    """Return the record of a power in its counts, as consistent as a meter's."""
    apparent_va = power_w / FACTOR
    return record(
        W=str(round(10 * power_w)),
        V=str(round(10 * VOLTS)),
        A=str(round(1000 * apparent_va / VOLTS)),
        WH=str(int(10 * energy_wh)),
        PF=str(round(100 * FACTOR)),
        PC=str(cycles),
        VA=str(round(10 * apparent_va)),
    )


Fault = Callable[[list[Chunk]], list[Chunk]]


def _on_one(change: Callable[[bytes], list[bytes] | bytes]) -> Callable[[int], Fault]:
    """Turn a change of a chunk's bytes into a fault of one chunk of a stream."""

    def at(nth: int) -> Fault:
        def fault(chunks: list[Chunk]) -> list[Chunk]:
            place = nth % len(chunks)
            parts = change(chunks[place].data)
            parts = [parts] if isinstance(parts, bytes) else parts
            new = [replace(chunks[place], data=part) for part in parts]
            return chunks[:place] + new + chunks[place + 1 :]

        return fault

    return at


@st.composite
def faults(draw):
    """Draw one fault of the bytes between the meter and the parser."""
    nth, byte = draw(st.integers(0, LENGTH_S)), draw(st.integers(0, 100))
    kind = draw(st.sampled_from(sorted(KINDS)))
    return KINDS[kind](draw, nth, byte)


def _insert(draw, nth, byte):
    text = draw(st.sampled_from([b"\0", b"\0\0\0", b"\r\n", b"#", b";", b",", b"\xff~"]))
    return _on_one(lambda data: data[:byte] + text + data[byte:])(nth)


def _overwrite(draw, nth, byte):
    text = draw(st.sampled_from([b"\0", b"#", b";", b",", b"_", b"-", b"\x81"]))
    return _on_one(lambda data: data[:byte] + text + data[byte + 1 :])(nth)


def _lose_bytes(draw, nth, byte):
    count = draw(st.integers(1, 100))
    return _on_one(lambda data: data[:byte] + data[byte + count :])(nth)


def _banner(draw, nth, byte):
    text = draw(st.sampled_from([VERSION, HEADER, VERSION + HEADER, "#n,-,1,0;"])).encode()
    return _on_one(lambda data: data[:byte] + text + data[byte:])(nth)


def _end(draw, nth, byte):
    """The stream breaks off in mid-record."""
    return lambda chunks: [
        *chunks[:nth],
        *(replace(chunk, data=chunk.data[:byte]) for chunk in chunks[nth : nth + 1]),
    ]


def _drop(draw, nth, byte):
    count = draw(st.integers(1, 20))
    return lambda chunks: chunks[:nth] + chunks[nth + count :]


def _double(draw, nth, byte):
    return _on_one(lambda data: [data, data])(nth)


def _double_in_one_read(draw, nth, byte):
    return _on_one(lambda data: data + data)(nth)


def _stall(draw, nth, byte):
    """Records are held back and come in one read, or one after the other at once."""
    count, joined = draw(st.integers(2, 20)), draw(st.booleans())

    def fault(chunks):
        held = chunks[nth : nth + count]
        if not held:
            return chunks
        late_s = held[-1].time_s
        data = b"".join(chunk.data for chunk in held)
        late = [Chunk(late_s, data)] if joined else [replace(c, time_s=late_s) for c in held]
        return chunks[:nth] + late + chunks[nth + count :]

    return fault


def _split(draw, nth, byte):
    return _on_one(lambda data: [data[:byte], data[byte:]])(nth)


def _swap(draw, nth, byte):
    def fault(chunks):
        if nth + 1 < len(chunks):
            chunks = [*chunks[:nth], chunks[nth + 1], chunks[nth], *chunks[nth + 2 :]]
        return chunks

    return fault


KINDS = {
    "insert": _insert,
    "overwrite": _overwrite,
    "lose bytes": _lose_bytes,
    "banner": _banner,
    "end": _end,
    "drop": _drop,
    "double": _double,
    "double in one read": _double_in_one_read,
    "stall": _stall,
    "split": _split,
    "swap": _swap,
}
