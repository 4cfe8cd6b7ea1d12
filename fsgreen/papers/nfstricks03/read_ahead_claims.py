"""Claims on read-ahead: what the heuristics decide on known requests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.ledger import Check, functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Band, Part, about, by_construction
from fsgreen.papers.nfstricks03.read_ahead import (
    BLOCK_B,
    LATE_PERCENTS,
    NEAR_B,
    NOT_FULL,
    OVERFULL,
    STRIDES,
    TOO_MANY_STRIDES,
)
from fsgreen.papers.nfstricks03.sources import Readers

NEXT_TO_NOTHING = Band(0, 0.01, 0)
"""Of what is read, as a share."""

SOME = Band(math.nextafter(0, 1), math.inf, 0)


def _decided(
    source: Readers,
    what: str,
    value: float,
    target: Band,
    published: str,
    unit: Literal["", "x", "share"] = "",
) -> Part:
    """Return the part of a number that follows from the heuristic alone: it has no scatter."""
    ours = stats.Estimate.exactly(value)
    return source.part(what, target, published, ours, unit=unit)


def _exactly(value: float) -> Band:
    return Band(value, value, 0)


def _case(source: Readers, case: str, setting: int, heuristic: str) -> pd.Series:
    """Return what a heuristic made of requests."""
    at = {"case": case, "setting": setting, "heuristic": heuristic}
    rows = source.decisions[source.decisions[list(at)].eq(list(at.values())).all(axis="columns")]
    return rows.iloc[0]


def _of(source: Readers, case: str, heuristic: str) -> Iterator[tuple[int, pd.Series]]:
    """Yield each setting of a case with what a heuristic made of it."""
    rows = source.decisions
    for _, row in rows[rows["case"].eq(case) & rows["heuristic"].eq(heuristic)].iterrows():
        yield int(row["setting"]), row


def _seqcount_default(source: Readers, numbers: Numbers) -> Iterator[Part]:
    initial, cap = (number["value"] for number in numbers[:2])
    for _, row in _of(source, "sequential", "default"):
        for name, word, value in (("first", "first", initial), ("most", "highest", cap)):
            what = f"{word} sequential count of a sequential reader, default"
            yield _decided(source, what, row[f"{name}_count"], _exactly(value), f"{value:g}")
    what = "sequential count after a jump, default"
    last = _case(source, "jumps", 1, "default")["last_count"]
    yield _decided(source, what, last, Band(0, 1, 0), "a low value")


def _slowdown_rule(source: Readers, numbers: Numbers) -> Iterator[Part]:
    halved = about(numbers[2]["value"])  # 127 is halved to a whole number
    for away_b, target, text in (
        (NEAR_B, _exactly(1), "unchanged"),
        (NEAR_B + BLOCK_B, halved, "halved"),
    ):
        row = _case(source, "away", away_b, "slowdown")
        what = f"SlowDown, count after a read {away_b // 1024} KiB off, over that before"
        ours = row["last_count"] / row["most_count"]
        yield _decided(source, what, ours, target, text, "x")


def _slowdown_robust(source: Readers, numbers: Numbers) -> Iterator[Part]:
    of_jumps = _of(source, "jumps", "slowdown")
    spent = min((jumps for jumps, row in of_jumps if not row["last_count"]), default=math.nan)
    what = "random reads until SlowDown reads nothing ahead"
    value = numbers[0]["value"]
    yield _decided(source, what, spent, _exactly(value), f"{value:g} requests")
    in_order = _case(source, "late", 0, "slowdown")["mean_count"]
    for percent in LATE_PERCENTS:
        what = f"SlowDown, mean count with {percent} % of reads late, over that in order"
        ours = _case(source, "late", percent, "slowdown")["mean_count"] / in_order
        yield _decided(source, what, ours, about(1), "survives slight reordering", "x")


def _nfsheur_eviction(source: Readers, numbers: Numbers) -> Iterator[Part]:
    files = source.decisions[source.decisions["case"] == "files"]
    for count, text in ((NOT_FULL, "also when not full"), (OVERFULL, "always when overfull")):
        ours = stats.mean_ci(files.loc[files["setting"] == count, "evicted_count"])
        what = f"times that one of {count} files is forgotten, 64 slots"
        part = source.part(what, SOME, text, ours, unit="")
        yield by_construction(part) if count == OVERFULL else part  # no slot is left for the last


def _stride_no_readahead(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for heuristic in ("default", "slowdown"):
        for streams in STRIDES:
            row = _case(source, "strides", streams, heuristic)
            what = f"read ahead of what is read in stride {streams}, {heuristic}"
            ours = row["ahead_b"] / row["read_b"]
            yield _decided(source, what, ours, NEXT_TO_NOTHING, "no read-ahead", "share")


def _cursor_rule(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for streams in STRIDES:
        most = _case(source, "strides", streams, "cursors")["most_count"]
        what = f"highest sequential count in stride {streams}, 8 cursors"
        yield _decided(source, what, most, _exactly(127), "a count for each")
    most = _case(source, "strides", TOO_MANY_STRIDES, "cursors")["most_count"]
    what = f"highest sequential count in stride {TOO_MANY_STRIDES}, 8 cursors"
    yield _decided(source, what, most, _exactly(1), "the least recently used is recycled")


def _cursor_random(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for _, row in _of(source, "random", "cursors"):
        ours = row["ahead_b"] / row["read_b"]
        what = "read ahead of what is read at random, cursors"
        yield _decided(source, what, ours, NEXT_TO_NOTHING, "no extra read-ahead", "share")


def _on_decisions(check: Check) -> Check:
    """Return a check that gives no part where no decisions were simulated."""

    def checked(source: Readers, numbers: Numbers) -> Iterable[Part]:
        return () if source.decisions.empty else check(source, numbers)

    return checked


CHECKS: Mapping[str, Check] = {
    name: _on_decisions(check) for name, check in functions_of(vars(), "source").items()
}
"""The functions above by their name in `claims.yaml`."""
