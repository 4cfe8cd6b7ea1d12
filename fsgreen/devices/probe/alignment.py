"""Throughput of requests of 4 KiB that are aligned to pages, and of misaligned ones."""

from __future__ import annotations

import errno
import os
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.devices.probe.target import PASSES, REQUEST_B, Overwriting, buffer, opened

if TYPE_CHECKING:
    import pandas as pd

SHIFTS_B = (0, 512, 1024)
"""Offsets of requests from the beginning of a page."""

PATCH_B = 16 << 20
"""Size of the area for write requests."""


def throughput_by_alignment(
    target: Path,
    *,
    seed: int,
    passes: int = PASSES,
    step_s: float = 0.25,
    overwriting: Overwriting | None = None,
) -> pd.DataFrame:
    """Measure random requests of 4 KiB, one at a time, at `SHIFTS_B` from the beginning of a page.

    If a device has blocks of 4 KiB, in hardware or in its flash, it needs two blocks for a
    misaligned request, and must read before it writes. Shifts that it does not accept (smaller than
    its logical block) are left out. With `overwriting`, writes are measured, too. They write what
    was read there before, so no byte changes.

    Returns action, shift_b, pass, throughput_ops_s: a row per action, shift and pass. Raises
    FsgreenError if the target is missing, in use, smaller than 64 KiB, or lacks direct I/O.
    """
    import pandas as pd

    choose = random.Random(seed)
    rows = []
    with ExitStack() as stack:
        fd, size_b = stack.enter_context(opened(target, 16 * REQUEST_B))
        write_fd = stack.enter_context(overwriting()) if overwriting is not None else None
        length_b = min(PATCH_B, size_b) // REQUEST_B * REQUEST_B
        with buffer(length_b) as patch:
            taken = [shift_b for shift_b in SHIFTS_B if _takes(fd, patch, shift_b)]
            steps = [("read", shift_b) for shift_b in taken]
            base_b = choose.randrange((size_b - length_b) // REQUEST_B + 1) * REQUEST_B
            if write_fd is not None:
                os.preadv(fd, [patch], base_b)
                steps += [("write", shift_b) for shift_b in taken]
            for number in range(passes):
                for action, shift_b in choose.sample(steps, len(steps)):
                    if action == "read":
                        rate_ops_s = _reads_ops_s(fd, size_b, shift_b, choose, step_s)
                    elif write_fd is not None:
                        rate_ops_s = _rewrites_ops_s(
                            write_fd, patch, base_b, shift_b, choose, step_s
                        )
                    rows.append((action, shift_b, number, rate_ops_s))
    return pd.DataFrame(rows, columns=["action", "shift_b", "pass", "throughput_ops_s"])


def _takes(fd: int, patch: object, shift_b: int) -> bool:
    """Return whether the device accepts direct requests at this shift."""
    try:
        os.preadv(fd, [memoryview(patch)[:REQUEST_B]], shift_b)  # type: ignore[arg-type]
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise
    return True


def _reads_ops_s(fd: int, size_b: int, shift_b: int, choose: random.Random, step_s: float) -> float:
    with buffer(REQUEST_B) as page:

        def read() -> None:
            number = choose.randrange(size_b // REQUEST_B - 1)
            os.preadv(fd, [page], number * REQUEST_B + shift_b)

        return _rate_ops_s(read, step_s)


def _rewrites_ops_s(
    fd: int, patch: object, base_b: int, shift_b: int, choose: random.Random, step_s: float
) -> float:
    with memoryview(patch) as bytes_read, buffer(REQUEST_B) as page:  # type: ignore[arg-type]

        def rewrite() -> None:
            begin_b = choose.randrange(len(bytes_read) // REQUEST_B - 1) * REQUEST_B + shift_b
            page[:] = bytes_read[begin_b : begin_b + REQUEST_B]
            os.pwritev(fd, [page], base_b + begin_b)

        return _rate_ops_s(rewrite, step_s)


def _rate_ops_s(operation: Callable[[], None], step_s: float) -> float:
    """Return the operations per second over `step_s`.

    At least one is done, even if the machine stands still for the whole step.
    """
    count, spent_s = 0, 0.0
    start_s = time.perf_counter()
    while not count or spent_s < step_s:
        operation()
        count += 1
        spent_s = time.perf_counter() - start_s
    return count / spent_s
