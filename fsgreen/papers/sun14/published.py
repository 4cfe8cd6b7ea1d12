"""Claims that can be recomputed from sun14's own printed numbers: one function per claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fsgreen.analysis.claims.ledger import Check, functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.analysis.printed import beyond, holds, implied, inside
from fsgreen.claims import Band, Part, load_claims
from fsgreen.papers.sun14.reference import (
    DRIVES,
    FILE_SYSTEMS,
    PAPER,
    SCHEDULERS,
    WORKLOADS,
    Printed,
)

ALIKE = 0.01
"""Relative range within which sizes of an operation count as one proportion."""

WRITES_OF_FILE_SERVER = 2 / 3
"""Table 2 prints one read for two writes."""

ROUNDING = 0.5
"""What is printed in whole per cent may be off by this."""

AGAIN_W = 0.553
"""Upper end of Ext2-CFQ's power on reads, where section 5.1.2 has it a second time."""


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


def _row(file_system: str) -> Check:
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
    shares = {"writes": WRITES_OF_FILE_SERVER, "reads": 1 - WRITES_OF_FILE_SERVER}
    for (of, share), number in zip(shares.items(), numbers, strict=True):
        low, high = ((number["value"] + end) / 100 for end in (-ROUNDING, ROUNDING))
        published = f"{number['value']} %"
        yield inside(
            f"{of} by the ratio 1:2 of table 2", share, Band(low, high, 0), published, "share"
        )


def _s_t1_ssd_s(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    yield _above_rest("SSD-S", numbers[5]["value"])
    yield _untested("the drive itself", "ssd-s")


def _s_t1_ssd_k(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    prose_gb = printed.table1["capacity_gb"]["SSD-I"]
    what = f"SSD-K: {numbers[0]['value']} GB in table 1, {prose_gb:g} GB in section 4.1"
    yield holds(what, bool(numbers[0]["value"] == prose_gb), "one capacity")
    yield _above_rest("SSD-K", numbers[5]["value"])
    yield _untested("the drive itself", "ssd-k")


def _above_rest(drive: str, rest_w: float) -> Part:
    """Return whether the least power that is printed of a drive at work is that at rest or more."""
    printed_w = [
        number["value"]
        for slug in ("s_vm_cfq_power", "s_vm_deadline_power", "s_vm_noop_power")
        for number in stated(slug)
        if number["subject"].startswith(drive)
    ]
    what = f"{drive} on the mail server: {min(printed_w):g} W at least, {rest_w:g} W at rest"
    return holds(what, min(printed_w) >= rest_w, "no less than at rest")


def _s_vm_cfq_power(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether the drive that draws more under CFQ is the one that does under the others."""
    for slug, scheduler in (("s_vm_deadline_power", "Deadline"), ("s_vm_noop_power", "NOOP")):
        of_k, of_s = (number["value"] for number in stated(slug))
        same = (numbers[0]["value"] > numbers[1]["value"]) == (of_k > of_s)
        what = (
            f"CFQ: SSD-K {numbers[0]['value']:g} W, SSD-S {numbers[1]['value']:g} W; "
            f"{scheduler}: {of_k:g} W, {of_s:g} W"
        )
        yield holds(what, same, "the same drive draws more")
    yield _untested("the runs themselves", "ssd-s")


def _s_vm_range_ext2cfq(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    high_w = numbers[0]["value_high"]
    what = f"reads of Ext2-CFQ reach {high_w:g} W, and {AGAIN_W:g} W in a later sentence"
    yield holds(what, high_w == AGAIN_W, "one range")
    yield _untested("the run itself", "same-ssd")


def _s_fs_gc_swings(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether the printed ranges of the pairs with the largest AI swing as is said."""
    files, web, mail = (
        stated("s_fs_ranges")[0],
        stated("s_ws_ranges")[0],
        stated("s_vm_range_ext2cfq")[1],
    )
    for name, other in (("web", web), ("mail", mail)):
        ranges_w = _swing(files), _swing(other)
        what = f"range of power: file server {ranges_w[0]:.2g} W, {name} server {ranges_w[1]:.2g} W"
        yield holds(what, ranges_w[0] > ranges_w[1], f"the file server's above the {name} server's")


def _s_fs_ranges(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    ext2, nilfs2 = (_swing(number) for number in numbers[:2])
    what = f"range of power: NILFS2-CFQ {nilfs2:.2g} W, Ext2-Deadline {ext2:.2g} W"
    yield holds(what, nilfs2 > ext2, "NILFS2-CFQ changes more")
    yield _untested("the runs themselves", "same-ssd")


def _s_fs_nilfs(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether table 3 has for SSD-I what the conclusion says of all drives."""
    for name, column in (("AI", "ai_iops_per_w"), ("operations a second", "iops")):
        ranked = [*printed.table3[column].sort_values(ascending=False).index]
        what = f"{name} of SSD-I in table 3: {', '.join(ranked)}"
        yield holds(what, ranked[0] == "nilfs2", "NILFS2 first on all drives, section 6")
    yield _untested("SSD-S and SSD-K", "ssd-s")


def _untested(what: str, need: str) -> Part:
    return Part(what, "not testable here", needs=need)


def _swing(number: Mapping[str, Any]) -> float:
    return float(number["value_high"] - number["value"])


def stated(slug: str) -> Numbers:
    """Return the printed numbers of another claim of the paper."""
    numbers: Numbers = load_claims(PAPER)[slug]["numbers"]
    return numbers


RECOMPUTED: Mapping[str, Check] = {
    **functions_of(vars(), "printed"),
    **{f"s_t3_{name}": _row(name) for name in FILE_SYSTEMS},
}
"""The functions above by the slug of their claim."""
