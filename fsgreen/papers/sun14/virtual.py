"""The three drives of sun14 as models, in virtual time: what table 1 prints of each, and patterns.

`fsgreen simulate sun14` makes the tables. The insides of SSD-S and SSD-K are assumed, and fitted to
table 1: that these models do what it prints is how they were made.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import design
from fsgreen.papers import virtualtime
from fsgreen.papers.sun14.reference import PAPER
from fsgreen.simdisk.server import parameters
from fsgreen.simdisk.virtual import Request, replay
from fsgreen.units import NS_PER_S, SECTOR_B

DISKS = {"SSD-I": "x25-m-g2", "SSD-S": "sun14-ssd-s", "SSD-K": "sun14-ssd-k"}
"""The simulated disk that stands for each drive."""

TABLES = ("drives", "patterns")

LARGE_B, SMALL_B = 131_072, 4096
REQUESTS = 2000
AT_ONCE = 32
"""Requests in flight where there are several: the drives' queue."""

BEGIN_S = 100.0
"""When a pattern begins: what it reads or overwrites has been written long before."""
UW_PER_W = 1e6


@dataclass(frozen=True)
class Simulated:
    """The tables of `fsgreen simulate sun14`.

    `drives` has a row for each drive: `capacity_b`; `read_b_s` with one request of 128 KiB at a
    time and `read_at_once_b_s` with 32; `write_b_s` and `work_w` of such writes in order; `idle_w`.
    `patterns` has `throughput_b_s` and `power_w` of 32 requests of 4 KiB in flight, by drive,
    action and order.
    """

    drives: pd.DataFrame
    patterns: pd.DataFrame


def simulate(study: str, profile: str, name: str | None = None) -> Path:
    """Write the tables anew; return their folder.

    Raises FsgreenError if a campaign is named, or the engine is not installed or too old.
    """
    virtualtime.refuse_name(study, profile, name)
    seed = design.load_study(study).seed
    tables = {"drives": [*_drives()], "patterns": [*_patterns(seed)]}
    return virtualtime.write(study, tables, seed=seed)


def read() -> Simulated | None:
    """Return the tables, or None where there are none.

    Raises FsgreenError if a file is not the one that was written.
    """
    tables = virtualtime.read(PAPER, TABLES)
    return None if tables is None else Simulated(*tables)


def _drives() -> Iterator[dict[str, Any]]:
    in_order = range(REQUESTS)
    for drive, disk in DISKS.items():
        described = tomllib.loads(parameters(disk))
        write_b_s, work_w = _pattern(disk, "write", in_order, LARGE_B, AT_ONCE)
        yield {
            "drive": drive,
            "disk": disk,
            "capacity_b": round(described["flash"]["capacity_gib"] * 2**30),
            "read_b_s": _pattern(disk, "read", in_order, LARGE_B, 1)[0],
            "read_at_once_b_s": _pattern(disk, "read", in_order, LARGE_B, AT_ONCE)[0],
            "write_b_s": write_b_s,
            "work_w": work_w,
            "idle_w": described["power"]["idle_w"],
        }


def _patterns(seed: int) -> Iterator[dict[str, Any]]:
    shuffled = random.Random(seed).sample(range(REQUESTS), REQUESTS)
    orders = {"sequential": range(REQUESTS), "random": shuffled}
    for (drive, disk), action, order in product(DISKS.items(), ("read", "write"), orders):
        throughput_b_s, power_w = _pattern(disk, action, orders[order], SMALL_B, AT_ONCE)
        yield {
            "drive": drive,
            "action": action,
            "order": order,
            "throughput_b_s": throughput_b_s,
            "power_w": power_w,
        }


def _pattern(
    disk: str, action: str, places: Iterable[int], size_b: int, at_once: int
) -> tuple[float, float]:
    """Return bytes a second and watts of requests at multiples of a size, on a drive with data."""
    sectors, filled = size_b // SECTOR_B, LARGE_B // SECTOR_B
    fill: Iterator[Request] = (
        ("write", begin, filled, 0.0) for begin in range(0, REQUESTS * sectors, filled)
    )
    asked: Iterator[Request] = ((action, place * sectors, sectors, BEGIN_S) for place in places)
    report = replay(disk, [*fill, *asked], overrides={"depth": at_once}, power=True)
    begin_ns, end_ns = round(BEGIN_S * NS_PER_S), report["end_ns"]
    steps = pairwise([*report["power_uw"], (end_ns, 0)])
    energy_uw_ns = sum(
        power_uw * max(0, min(until_ns, end_ns) - max(since_ns, begin_ns))
        for (since_ns, power_uw), (until_ns, _) in steps
    )
    lasted_ns = end_ns - begin_ns
    return REQUESTS * size_b * NS_PER_S / lasted_ns, energy_uw_ns / lasted_ns / UW_PER_W
