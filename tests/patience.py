"""What lets tests bear a machine that stands still: they wait for what must come, or try again."""

import os
import threading
import time
from contextlib import contextmanager

from fsgreen.meters.core.readings import Readings

BOUNDS = "bounds: {budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}"
"""With these a study is measured on a busy machine, too."""

LIMIT_S = 300.0
TRIES = 30
MOST_SLOWER = 16


def wait_for(condition, otherwise="waited in vain"):
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, otherwise
        time.sleep(0.02)


@contextmanager
def leaves_nothing():
    """No thread and no open file of what runs inside is left; those of others may end meanwhile."""
    threads, files = {*threading.enumerate()}, {*os.listdir("/proc/self/fd")}
    yield
    wait_for(lambda: {*threading.enumerate()} <= threads, "a thread is left")
    wait_for(lambda: {*os.listdir("/proc/self/fd")} <= files, "a file is left open")


def listen(meter, parser, until):
    """The readings of a meter that was started, up to the chunk with which `until` holds of all."""
    readings = Readings.joined([])
    deadline_s = time.monotonic() + LIMIT_S
    while not until(readings):
        assert time.monotonic() < deadline_s, "listened in vain"
        if (chunk := meter.read(0.25)) is not None:
            readings = Readings.joined([readings, Readings.of(parser.feed(chunk))])
    return readings


def listen_for_chunks(meter, until):
    """The chunks of a meter that was started, up to the one with which `until` holds of all."""
    chunks = []

    def heard():
        if (chunk := meter.read(0.25)) is not None:
            chunks.append(chunk)
        return until(chunks)

    wait_for(heard, "listened in vain")
    return chunks


def paces():
    """By how much a meter and its phases are slower in each try.

    A machine that stands still for 0.1 s spoils every try at twenty readings a second.
    """
    return (min(MOST_SLOWER, 2 ** (nth // 3)) for nth in range(TRIES))


def ever_slower(attempt, is_calm):
    """As `until_calm`, for an attempt that is told by how much to be slower."""
    pace = paces()
    return until_calm(lambda: attempt(next(pace)), is_calm)


def until_calm(attempt, is_calm):
    """What `attempt` returns when the machine goes on; what is never calm is returned all the same.

    What the test asserts of it then fails.
    """
    for _ in range(TRIES):
        if is_calm(found := attempt()):
            break
    return found
