import struct
import zlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fast_meters import FUZZ, block
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.meters.blocks.format import (
    MAX_CHANNELS,
    MAX_SAMPLES,
    TCP_BLOCK_B,
    UDP_BLOCK_B,
    Channel,
    blocks_of,
    foreign_version,
    header_b,
)

ONE = block(count=20)
BYTES = ONE.packed()


def same(one, other):
    return replace(one, samples=None) == replace(other, samples=None) and np.array_equal(
        one.samples, other.samples
    )


def summed(data):
    """Mend the checksum of a header that a test has changed; the samples' own stays."""
    end = header_b(data[5]) - 4
    return data[:end] + struct.pack("<I", zlib.crc32(data[:end])) + data[end + 4 :]


def test_layout_is_the_documented_one():
    channel = Channel("5V", "A", 0.5, -1.0, 0, 4095)
    one = block(count=2, stream=9, sequence=3, first=100, channels=(channel,))
    one = replace(one, samples=np.array([[1], [-2]], dtype=np.int16), serial="hall")
    head = (
        b"FSGB" + bytes([1, 1]) + struct.pack("<HIIQQQd", 2, 3, 9, 100, 10_000_000, 10_200_000, 1e4)
    )
    head += b"hall".ljust(16, b"\0") + bytes(4)
    head += struct.pack("<ddhh", 0.5, -1.0, 0, 4095) + b"A\0\0\0" + b"5V".ljust(16, b"\0")
    samples = struct.pack("<hh", 1, -2)
    wanted = head + struct.pack("<I", zlib.crc32(head)) + samples
    assert one.packed() == wanted + struct.pack("<I", zlib.crc32(samples))
    assert header_b(1) == len(head) + 4


def test_block_is_what_was_packed():
    (read,), rest = blocks_of(BYTES)
    assert same(read, ONE)
    assert rest == b""


@pytest.mark.parametrize("most", [UDP_BLOCK_B, TCP_BLOCK_B])
@pytest.mark.parametrize("channels", [1, 2, MAX_CHANNELS])
def test_split_blocks_fit_and_hold_every_sample_once(most, channels):
    samples = np.arange(10_000 * channels, dtype=np.int16).reshape(-1, channels)
    names = tuple(Channel(str(nth), "A", 1.0, 0.0) for nth in range(channels))
    whole = block(first=500, channels=names, sequence=0xFFFFFFFF)
    parts = replace(whole, samples=samples, sent_ns=1 << 40).split(most)
    assert max(len(part.packed()) for part in parts) <= most
    assert [part.sequence for part in parts[:2]] == [0xFFFFFFFF, 0][: len(parts)]
    assert np.array_equal(np.concatenate([part.samples for part in parts]), samples)
    for part, after in pairwise(parts):
        assert after.first == part.first + len(part.samples)
        assert after.t0_ns - part.t0_ns == pytest.approx(len(part.samples) * 1e5, abs=1)


def test_blocks_follow_each_other_and_noise_between_is_passed_over():
    data = b"x" + BYTES + b"FSG" + BYTES + b"FSGB\x01\x02" + BYTES
    blocks, rest = blocks_of(data)
    assert len(blocks) == 3
    assert rest == b""


def test_every_truncation_waits_for_the_rest():
    for size in range(len(BYTES)):
        blocks, rest = blocks_of(BYTES[:size])
        assert (blocks, rest) == ([], BYTES[:size])


def test_flipped_bit_anywhere_costs_the_block_and_not_the_next():
    for place in range(len(BYTES)):
        broken = BYTES[:place] + bytes([BYTES[place] ^ 0x10]) + BYTES[place + 1 :]
        blocks, _ = blocks_of(broken + BYTES)
        assert len(blocks) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"rate_hz": 0.0},
        {"rate_hz": float("nan")},
        {"rate_hz": 1e9},
        {"first": 1 << 60},
        {"sent_ns": 0, "t0_ns": 5},
        {"channels": (Channel("5V", "A", 0.0, 0.0), Channel("5V", "V", 1.0, 0.0))},
        {"channels": (Channel("5V", "A", float("inf"), 0.0), Channel("5V", "V", 1.0, 0.0))},
        {"channels": (Channel("5V", "A", 1.0, 0.0, 5, 5), Channel("5V", "V", 1.0, 0.0))},
        {"channels": (Channel("5V", "J", 1.0, 0.0), Channel("5V", "V", 1.0, 0.0))},
        {"channels": (Channel("", "A", 1.0, 0.0), Channel("5V", "V", 1.0, 0.0))},
    ],
)
def test_block_that_contradicts_itself_is_passed_over(changed):
    assert blocks_of(replace(ONE, **changed).packed() + BYTES)[0][0].first == ONE.first
    assert len(blocks_of(replace(ONE, **changed).packed() + BYTES)[0]) == 1


@pytest.mark.parametrize(("place", "value"), [(4, 2), (5, 0), (5, 9), (5, 255), (6, 0)])
def test_unknown_version_and_impossible_counts_are_passed_over(place, value):
    data = bytearray(BYTES)
    data[place] = value
    data[7] = 0
    blocks, rest = blocks_of(summed(bytes(data)) + BYTES)
    assert len(blocks) == 1
    assert rest == b""


def test_version_of_another_format_is_told():
    assert foreign_version(b"noise" + BYTES[:4] + b"\x02more") == 2
    assert foreign_version(BYTES) is None
    assert foreign_version(b"FSGB") is None
    assert foreign_version(b"hello") is None


def test_header_that_promises_much_holds_no_more_than_its_block():
    """A sound header whose samples never come is given up once as many bytes have come."""
    head = summed(BYTES[:6] + struct.pack("<H", MAX_SAMPLES) + BYTES[8 : header_b(2)])
    blocks, rest = blocks_of(head)
    assert (blocks, rest) == ([], head)
    blocks, rest = blocks_of(head + BYTES * 2000)
    assert len(blocks) == 2000
    assert rest == b""


@FUZZ
@given(
    st.lists(st.one_of(st.binary(max_size=80), st.sampled_from([BYTES, BYTES[:90], b"FSGB\x01"])))
)
def test_any_bytes_are_survived_and_no_more_kept_than_came(pieces):
    held, count = b"", 0
    for piece in pieces:
        blocks, held = blocks_of(held + piece)
        count += len(blocks)
        assert all(same(found, ONE) for found in blocks)
    assert len(held) <= sum(map(len, pieces)) - count * len(BYTES)


@FUZZ
@given(st.lists(st.integers(0, 3 * len(BYTES)), max_size=8))
def test_where_reads_are_cut_changes_nothing(cuts):
    data, held, found = BYTES * 3, b"", []
    edges = [0, *sorted(cuts), len(data)]
    for start, end in pairwise(edges):
        blocks, held = blocks_of(held + data[start:end])
        found += blocks
    assert len(found) == 3
    assert held == b""
