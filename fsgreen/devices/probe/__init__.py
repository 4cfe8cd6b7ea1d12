"""Measurements of the bare testbed: place, queue, scheduler, cache, alignment, read-ahead.

Ellard and Seltzer (nfstricks03) found that these distort benchmarks of disks. They are measured
before the first trial. On a disk of 100 reads a second, no part takes more than 12 seconds, and all
take less than a minute. In memory, all take about ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen.devices.probe.alignment import throughput_by_alignment
from fsgreen.devices.probe.caching import bandwidth_by_cache, bandwidth_by_read_ahead
from fsgreen.devices.probe.place import throughput_by_offset
from fsgreen.devices.probe.queuedepth import throughput_by_queue_depth
from fsgreen.devices.probe.sharing import completion_by_scheduler
from fsgreen.devices.probe.target import Overwriting, random_read_s, step_length_s
from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError
from fsgreen.progress import progress

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SCHEMA",
    "bandwidth_by_cache",
    "bandwidth_by_read_ahead",
    "completion_by_scheduler",
    "measurements",
    "probe",
    "random_read_s",
    "step_length_s",
    "throughput_by_alignment",
    "throughput_by_offset",
    "throughput_by_queue_depth",
]

SCHEMA = 2
"""The version of `confounds.json`. Version 1 had only `offset` and `queue`, and no number."""


def probe(
    target: Path, seed: int, *, queue: Queue | None = None, overwriting: Overwriting | None = None
) -> dict[str, Any]:
    """Return all measurements of a device or file, ready for `confounds.json`.

    The target is a device, or a file that is written in full. `queue` is the queue below it, if its
    scheduler may be set; it is restored. `overwriting` opens the target for writing, if it is the
    testbed's own. Then misaligned writes are measured, too; they change no byte. Returns `schema`,
    `random_read_s`, and a list of records for each of `offset`, `queue`, `scheduler`, `cache`,
    `alignment` and `read_ahead`. `not_measured` says why a list is empty. Raises FsgreenError if
    the target cannot be read with direct I/O.
    """
    read_s = random_read_s(target, seed)
    parts = measurements(target, seed, step_length_s(read_s), queue, overwriting)
    found: dict[str, Any] = {"schema": SCHEMA, "random_read_s": read_s, "not_measured": {}}
    for name, measure in progress(parts.items(), "probing the testbed", "part", len(parts)):
        try:
            found[name] = measure().to_dict("records")
        except FsgreenError as error:
            found[name] = []
            found["not_measured"][name] = error.what
    return found


def measurements(
    target: Path,
    seed: int,
    step_s: float,
    queue: Queue | None = None,
    overwriting: Overwriting | None = None,
) -> Mapping[str, Callable[[], pd.DataFrame]]:
    """Return a function for each part of a probe, by its name. It returns the table of the part.

    `step_s` is the length of a step in seconds. The other parameters are those of `probe`.
    """
    return {
        "offset": lambda: throughput_by_offset(target, seed=seed),
        "queue": lambda: throughput_by_queue_depth(target, seed=seed, step_s=step_s),
        "scheduler": lambda: completion_by_scheduler(target, seed=seed, queue=queue),
        "cache": lambda: bandwidth_by_cache(target, seed=seed, step_s=step_s),
        "alignment": lambda: throughput_by_alignment(
            target, seed=seed, step_s=step_s, overwriting=overwriting
        ),
        "read_ahead": lambda: bandwidth_by_read_ahead(target, seed=seed, step_s=step_s),
    }
