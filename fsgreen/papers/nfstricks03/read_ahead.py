"""What the simulator is asked for on read-ahead (sections 6, 7): decisions on known requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Decisions = Callable[..., Mapping[str, list[Any]]]
"""Takes the settings of a heuristic in JSON, and `reads` in JSON or `requests`; gives columns."""

HEURISTICS = ("default", "slowdown", "cursors")
"""Those that count; always reading ahead does not."""

TABLE: Mapping[str, int] = {"slots": 64, "probes": 4}
"""nfsheur of FreeBSD 4; its size is not stated by nfstricks03."""

STRIDES = (2, 4, 8)
TOO_MANY_STRIDES = 9
"""Of a heuristic that keeps 8 cursors of a file."""

BLOCK_B = 8192
"""Of a read (nfstricks03, 6.2)."""

NEAR_B = 8 * BLOCK_B
RAMP = 200
"""Sequential reads that take a count to its most, 127, and beyond."""

JUMPS = range(1, 9)
LATE_PERCENTS = (2, 6, 10)
"""At most over TCP and over UDP on the test bed, and what was seen elsewhere (nfstricks03, 6)."""

NOT_FULL, OVERFULL = 48, 65
"""Files for a table of 64 slots."""

TABLE_BLOCKS = 10
"""Draws of the numbers of files."""

READS_MIB = 32
"""Of all files of which only decisions are looked at."""


def decision_rows(decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Yield the rows of `virtual.Simulated.decisions`: what heuristics make of known requests."""
    settings: dict[str, Any]
    for heuristic in HEURISTICS:
        settings = {"heuristic": heuristic}
        for case, setting, requests in _written():
            yield _row(case, setting, settings, 1, decisions(json.dumps(settings), None, requests))
        for case, setting, reads in _generated():
            asked = json.dumps({"total_mib": READS_MIB, **reads})
            yield _row(case, setting, settings, 1, decisions(json.dumps(settings), asked))
    for files in (NOT_FULL, OVERFULL):
        for block in range(1, TABLE_BLOCKS + 1):
            settings = {"heuristic": "default", **TABLE}
            asked = json.dumps({"total_mib": READS_MIB, "files": files, "seed": block})
            yield _row("files", files, settings, block, decisions(json.dumps(settings), asked))


def _written() -> Iterator[tuple[str, int, list[tuple[int, int, int]]]]:
    """Yield requests that are known one by one: file, offset and count."""
    ramp = [_read(nth * BLOCK_B) for nth in range(RAMP)]
    end_b = RAMP * BLOCK_B
    yield "sequential", RAMP, ramp
    for away_b in (NEAR_B, NEAR_B + BLOCK_B):
        yield "away", away_b, [*ramp, _read(end_b + away_b)]
    for jumps in JUMPS:
        yield "jumps", jumps, [*ramp, *(_read(2**30 * nth) for nth in range(1, jumps + 1))]


def _generated() -> Iterator[tuple[str, int, dict[str, Any]]]:
    for late_percent in (0, *LATE_PERCENTS):
        yield "late", late_percent, {"late_percent": late_percent}
    for streams in (*STRIDES, TOO_MANY_STRIDES):
        yield "strides", streams, {"streams": streams}
    yield "random", 1, {"order": "random"}


def _read(offset_b: int) -> tuple[int, int, int]:
    return 1, offset_b, BLOCK_B


def _row(
    case: str,
    setting: int,
    settings: Mapping[str, Any],
    block: int,
    columns: Mapping[str, list[Any]],
) -> dict[str, Any]:
    counts = columns["sequential_count"]
    return {
        "case": case,
        "setting": setting,
        "heuristic": settings["heuristic"],
        "block": block,
        "first_count": counts[0],
        "last_count": counts[-1],
        "most_count": max(counts),
        "mean_count": sum(counts) / len(counts),
        "read_b": sum(columns["count_b"]),
        "ahead_b": sum(columns["ahead_b"]),
        "evicted_count": sum(file is not None for file in columns["evicted"]),
    }
