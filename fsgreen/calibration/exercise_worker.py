"""One load of `exercise`, in a process of its own: a script that needs only the standard library.

exercise_worker.py STARTER user|system SHARE
exercise_worker.py STARTER seek|sequential|write SHARE PATH SIZE_B REQUEST_B SEED

STARTER is the number of the process that started it, with which it ends. SHARE is the share of each
period for which it works. Only `write` writes, and only into a file that is there already.
"""

from __future__ import annotations

import mmap
import os
import random
import stat
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, cycle

PERIOD_S = 0.1
BAND = 0.05
"""Share of the span at either end within which the seeks' targets lie."""


def main(starter: str, kind: str, share: str, *disk: str) -> None:
    """Work until killed, or until the starter has gone."""
    turn = _processor(kind) if kind in ("user", "system") else _disk(kind, *disk)
    begin_s = time.perf_counter()
    while os.getppid() == int(starter):
        until_s = begin_s + float(share) * PERIOD_S
        while time.perf_counter() < until_s:
            turn()
        begin_s = max(begin_s + PERIOD_S, time.perf_counter() - PERIOD_S)
        time.sleep(max(0.0, begin_s - time.perf_counter()))


def _processor(kind: str) -> Callable[[], object]:
    if kind == "user":
        return lambda: sum(range(2000))
    zeros, into = os.open("/dev/zero", os.O_RDONLY), mmap.mmap(-1, 1 << 20)
    return lambda: os.readv(zeros, [into])


def _disk(kind: str, path: str, size_b: str, request_b: str, seed: str) -> Callable[[], object]:
    length_b = int(request_b)
    buffer = mmap.mmap(-1, length_b)
    if kind == "write":
        file = os.open(path, os.O_WRONLY | os.O_DIRECT | os.O_NOFOLLOW)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise PermissionError("only a file is ever written to, never a device")
        buffer.write(random.Random(seed).randbytes(length_b))
        offsets = _anywhere(int(size_b) // length_b, seed)
        return lambda: os.pwritev(file, [buffer], next(offsets) * length_b)
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    count = int(size_b) // length_b
    offsets = cycle(range(count)) if kind == "sequential" else _far_apart(count, seed)
    return lambda: os.preadv(file, [buffer], next(offsets) * length_b)


def _anywhere(count: int, seed: str) -> Iterator[int]:
    chance = random.Random(seed)
    while True:
        yield chance.randrange(count)


def _far_apart(count: int, seed: str) -> Iterator[int]:
    """Blocks by turns near the start and near the end; two fixed ones would stay in its cache."""
    chance = random.Random(seed)
    near = max(1, int(BAND * count))
    pairs = iter(lambda: (chance.randrange(near), count - 1 - chance.randrange(near)), None)
    return chain.from_iterable(pairs)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{error.strerror or error}")
