"""FIEMAP: what the kernel answers is understood, and what makes no sense is refused."""

import contextlib
import fcntl
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.stacks.aging import extents
from fsgreen.stacks.aging.extents import Extent

EXAMPLES = int(100 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1"))))


def answer(*found: Extent, count: int | None = None) -> bytes:
    """The bytes of the kernel's answer, laid out as in linux/fiemap.h."""
    head = struct.pack("=QQIIII", 0, 2**64 - 1, 0, len(found) if count is None else count, 500, 0)
    return head + b"".join(
        struct.pack("=QQQQQIIII", e.logical_b, e.physical_b, e.length_b, 0, 0, e.flags, 0, 0, 0)
        for e in found
    )


def test_an_answer_is_read_field_by_field() -> None:
    found = [Extent(0, 8192, 4096, 0), Extent(4096, 65536, 12288, extents.LAST)]
    assert extents.parse(answer(*found)) == found
    assert extents.parse(answer()) == []


@pytest.mark.parametrize(
    ("garbage", "said"),
    [
        (b"", "head is cut"),
        (answer(count=3), "3 extents do not fit"),
        (answer(Extent(0, 0, 0, 0)), "spans the bytes 0 to 0"),
        (answer(Extent(4096, 0, 4096, 0), Extent(0, 0, 4096, 0)), "spans the bytes 0"),
        (answer(Extent(0, 0, 2**64 - 1, 0)), "spans the bytes"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(garbage: bytes, said: str) -> None:
    with pytest.raises(FsgreenError, match=said) as caught:
        extents.parse(garbage)
    assert "filefrag" in (caught.value.next_step or "")


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_never_crash(garbage: bytes) -> None:
    try:
        found = extents.parse(garbage)
    except FsgreenError:
        return
    assert extents.pieces(found) <= len(found)


@settings(max_examples=EXAMPLES)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=12, max_size=12), st.integers(0, 3))
def test_an_ioctl_that_answers_garbage_neither_crashes_nor_hangs(
    numbers: list[int], count: int
) -> None:
    found = [Extent(*numbers[at : at + 3], numbers[at + 3] & 0xFFFFFFFF) for at in (0, 4, 8)]

    def garbled(fd: int, request: int, buffer: bytearray) -> int:
        text = answer(*found, count=count)
        buffer[: len(text)] = text
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "ioctl", garbled)
        with contextlib.suppress(FsgreenError):
            assert len(extents.extents(0, 2**62)) <= count


def test_pieces_are_runs_on_the_device_not_extents() -> None:
    """ext4 cuts extents at 128 MiB: a whole file would look fragmented."""
    whole = [Extent(0, 100, 50, 0), Extent(50, 150, 50, 0), Extent(100, 200, 1, 0)]
    assert extents.pieces(whole) == 1
    assert extents.pieces([whole[0], whole[2]]) == 2
    assert extents.pieces([]) == 0


def test_extents_without_a_place_follow_nothing() -> None:
    inline = Extent(0, 0, 50, 0x200)
    compressed = Extent(0, 100, 50, extents.ENCODED)
    assert extents.pieces([inline, Extent(50, 50, 50, 0)]) == 2
    assert extents.pieces([compressed, Extent(50, 150, 50, extents.ENCODED)]) == 2


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=40))
def test_each_jump_on_the_device_is_one_piece_more(runs: list[tuple[int, bool]]) -> None:
    found, logical_b, physical_b = [], 0, 1000
    for length_b, jumps in runs:
        physical_b += 5000 if jumps else 0
        found.append(Extent(logical_b, physical_b, length_b, 0))
        logical_b, physical_b = logical_b + length_b, physical_b + length_b
    assert extents.pieces(found) == 1 + sum(jumps for _, jumps in runs[1:])


def test_a_file_is_covered_by_its_extents(tmp_path: Path) -> None:
    if mounts.holding(tmp_path).file_system not in ("ext4", "xfs", "btrfs"):
        pytest.skip("this file system does not tell where its blocks lie: set TMPDIR")
    file = tmp_path / "file"
    file.write_bytes(os.urandom(1_000_000))
    with file.open("rb") as opened:
        found = extents.extents(opened.fileno(), 1_000_000)
    assert sum(extent.length_b for extent in found) == -(-1_000_000 // 4096) * 4096
    assert found[-1].flags & extents.LAST


def test_a_file_system_that_does_not_tell_is_an_error() -> None:
    with (
        open("/proc/self/status", "rb") as opened,
        pytest.raises(FsgreenError, match="does not tell where") as caught,
    ):
        extents.extents(opened.fileno(), 1)
    assert "ext4" in (caught.value.next_step or "")
