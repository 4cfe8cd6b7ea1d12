"""The disk of the lab: one in virtual time, or a real one, with the same curves of each part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import pandas as pd

from fsgreen.confounds.known import KNOWN
from fsgreen.confounds.size import Size, size_of
from fsgreen.confounds.virtual import VirtualDisk
from fsgreen.devices import probe
from fsgreen.devices.queue import Queue
from fsgreen.words import digits

VIRTUAL = "virtual"


class LabDisk(Protocol):
    """A disk that can be asked about every trap."""

    name: str
    basis: str

    def curve(self, part: str) -> pd.DataFrame:
        """Return the curve of one of `PARTS`, with the columns of `devices.probe`."""


class RealDisk:
    """A device or a file, in real time. It is only read.

    The target is a block device (as root), one that a simulated disk is served on, or a large file.
    Places and order follow from the seed.
    """

    basis = "measured in real time"

    def __init__(self, target: Path, seed: int = 1) -> None:
        self.name = str(target)
        step_s = probe.step_length_s(probe.random_read_s(target, seed))
        settable = target.is_block_device() and os.geteuid() == 0
        queue = Queue(target.resolve().name) if settable else None
        self._measurements = probe.measurements(target, seed, step_s, queue)

    def curve(self, part: str) -> pd.DataFrame:
        """Measure one of `PARTS`; as root under each scheduler that the kernel has."""
        return self._measurements[part]()


def open_disk(where: str, profile: str, seed: int = 1) -> LabDisk:
    """Return the disk of the lab.

    `where` is `virtual`, or the path of a device or file, which is only read. `profile` is that of
    the disk in virtual time; others ignore it. Places and order follow from the seed. Raises
    FsgreenError if the engine is not installed, there is no such profile, or the path cannot be
    read with direct I/O.
    """
    return VirtualDisk(profile, seed) if where == VIRTUAL else RealDisk(Path(where), seed)


def answer(name: str, curve: pd.DataFrame, effect_percent: float) -> str:
    """Return whether a confound would have fooled somebody who compares two things.

    `name` is one of `KNOWN`, and `curve` is `LabDisk.curve` of its part. `effect_percent` is the
    difference between the two things, in per cent of the slower.
    """
    size = size_of(KNOWN[name], curve)
    if not size.measured:
        return f"{name}: not measured here, so nobody knows."
    low, value, high = map(digits, (size.low_percent, size.percent, size.high_percent))
    told = f"{name}: {value} % [{low}, {high}] ({size.between})"
    return f"{told}. {_reading(size, effect_percent)}"


def _reading(size: Size, effect_percent: float) -> str:
    if size.by_chance and size.most_percent < effect_percent:
        return "It could be chance: nothing here to be fooled by."
    if size.by_chance:
        return f"It could be chance, which may hide {effect_percent:g} %: measure more passes."
    if size.most_percent < effect_percent:
        return f"It is smaller than a difference of {effect_percent:g} %: this one is safe."
    if size.low_percent > effect_percent:
        return f"A difference of {effect_percent:g} % is smaller: it would have fooled you."
    return f"A difference of {effect_percent:g} % may be smaller: it may have fooled you."
