"""Claims that can be recomputed from sun14's own printed numbers: one function per claim."""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen.analysis.claims.ledger import Recompute
from fsgreen.analysis.claims.recompute import beyond, holds, implied, inside
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Band, Part
from fsgreen.papers.sun14.reference import (
    DRIVES,
    FILE_SYSTEMS,
    SCHEDULERS,
    WORKLOADS,
    Printed,
)

ALIKE = 0.01
"""Relative range within which sizes of an operation count as one proportion."""

WRITES_OF_FILE_SERVER = 2 / 3
"""Table 2 prints one read for two writes."""


def _s_iops_mbps_prop(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    size_kb = 1000 * printed.table3["bandwidth_mb_s"] / printed.table3["iops"]
    spread = float(size_kb.max() / size_kb.min())
    what = "largest over smallest KB of an operation in table 3"
    yield inside(what, spread, Band(1, 1 + ALIKE, 0), "one proportion", "x")
    yield implied({**numbers[0], "op": "approx"}, "KB of an operation on Ext2", size_kb["ext2"])


def _s_controller(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    work_w = printed.table1["work_power_w"]
    for drive in ("SSD-I", "SSD-K"):
        what = f"work power in table 1: SSD-S {work_w['SSD-S']} W, {drive} {work_w[drive]} W"
        yield holds(what, bool(work_w["SSD-S"] > work_w[drive]), f"SSD-S above {drive}")


def _s_combos(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    of_one = len(FILE_SYSTEMS) * len(SCHEDULERS)
    yield implied({**numbers[0], "op": "exact"}, "5 file systems by 3 schedulers", of_one)
    runs = of_one * len(DRIVES) * len(WORKLOADS)
    yield implied({**numbers[1], "op": "exact"}, "on 3 drives under 3 workloads", runs)


def _row(file_system: str) -> Recompute:
    def recomputed(printed: Printed, numbers: Numbers) -> Iterator[Part]:
        row = printed.table3.loc[file_system]
        indicator = float(row["iops"] / row["power_w"])
        number = {**numbers[3], "op": "approx"}
        yield implied(number, "operations a second over watts", indicator)
        yield beyond("the run itself")

    return recomputed


def _s_t3_order(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    columns = {"ai": "ai_iops_per_w", "iops": "iops", "power_w": "power_w"}
    for number in numbers:
        column = printed.table3[columns[number["metric"]]]
        ours = list(column.sort_values(ascending=False).index)
        claimed = [name.lower() for name in number["order"]]
        what = f"{number['metric']} in table 3: {', '.join(ours)}"
        yield holds(what, ours == claimed, ", ".join(claimed))


def _s_depends_combo(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    indicator = printed.table3["ai_iops_per_w"]
    ratio = float(indicator.max() / indicator.min())
    yield implied({**numbers[1], "op": "approx"}, "largest over smallest AI in table 3", ratio)


def _s_fs_mix(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    writes = 100 * WRITES_OF_FILE_SERVER
    what = "writes by the ratio 1:2 of table 2, per cent"
    yield implied({**numbers[0], "op": "approx"}, what, writes)


RECOMPUTED: dict[str, Recompute] = {
    **{
        function.__name__[1:]: function
        for function in (
            _s_iops_mbps_prop,
            _s_controller,
            _s_combos,
            _s_t3_order,
            _s_depends_combo,
            _s_fs_mix,
        )
    },
    **{f"s_t3_{name}": _row(name) for name in FILE_SYSTEMS},
}
"""The functions above by the slug of their claim."""
