"""Snapshots of a device in a file. Only blocks that differ from the known fillings take space.

A device was first written in full with `image.pattern`, and then used by the ager. So it has three
kinds of blocks: the pattern, the ager's filling, and all others (metadata, and the tails of files).
The file has one byte per block for its kind, then the blocks of the third kind. A restored device
equals the saved one, block by block.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from fsgreen.devices import image
from fsgreen.errors import FsgreenError

BLOCK_B = 4096
PATTERN, FILLING, OTHER = 0, 1, 2


def save(device_fd: int, size_b: int, file: Path) -> None:
    """Save `size_b` bytes (a multiple of 4 MiB) of an unmounted device in `file`.

    Raises FsgreenError if there is no room for the file, or if the device cannot be read with
    direct I/O.
    """
    import numpy as np

    pattern = np.frombuffer(image.pattern(), np.uint64).reshape(-1, BLOCK_B // 8)
    filling = np.frombuffer(image.filling(0, BLOCK_B), np.uint64)
    kinds = np.full(size_b // BLOCK_B, OTHER, np.uint8)
    with mmap.mmap(-1, image.CHUNK_B) as buffer, file.open("xb") as kept:
        kept.seek(len(kinds))
        for offset_b in range(0, size_b, image.CHUNK_B):
            if os.preadv(device_fd, [buffer], offset_b) != image.CHUNK_B:
                raise FsgreenError(
                    "the device is shorter than its size",
                    where=file,
                    next_step="check whether it failed (dmesg), then start the same command again",
                )
            blocks = np.frombuffer(bytes(buffer), np.uint64).reshape(pattern.shape)
            here = kinds[offset_b // BLOCK_B :][: len(blocks)]
            here[(blocks == filling).all(axis=1)] = FILLING
            here[(blocks == pattern).all(axis=1)] = PATTERN
            image.require_space(file.parent, image.CHUNK_B)
            kept.write(blocks[here == OTHER].tobytes())
        kept.seek(0)
        kept.write(kinds.tobytes())


def restore(file: Path, device_fd: int, size_b: int) -> None:
    """Write every block of a device as it was when `file` was saved.

    Raises FsgreenError if the file does not fit the device, or is cut short.
    """
    import numpy as np

    pattern = np.frombuffer(image.pattern(), np.uint8).reshape(-1, BLOCK_B)
    filling = np.frombuffer(image.filling(0, BLOCK_B), np.uint8)
    with mmap.mmap(-1, image.CHUNK_B) as buffer, file.open("rb") as kept:
        kinds = np.frombuffer(kept.read(size_b // BLOCK_B), np.uint8)
        expected_b = len(kinds) + BLOCK_B * int(np.count_nonzero(kinds == OTHER))
        if len(kinds) * BLOCK_B != size_b or file.stat().st_size != expected_b:
            raise FsgreenError(
                "this copy of an aged device is damaged",
                where=file,
                next_step="start the same command again: it ages the file system anew",
            )
        for offset_b in range(0, size_b, image.CHUNK_B):
            here = kinds[offset_b // BLOCK_B :][: len(pattern)]
            blocks = pattern.copy()
            blocks[here == FILLING] = filling
            other = here == OTHER
            count = int(np.count_nonzero(other))
            blocks[other] = np.frombuffer(kept.read(count * BLOCK_B), np.uint8).reshape(-1, BLOCK_B)
            buffer[:] = blocks.tobytes()
            image.write_chunk(device_fd, buffer, offset_b)
