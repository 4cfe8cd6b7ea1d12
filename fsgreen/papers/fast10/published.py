"""Claims that can be recomputed from fast10's own printed numbers: one function per claim."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from fsgreen.analysis.claims.ledger import functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.analysis.printed import beyond, holds, implied, inside
from fsgreen.claims import Band, Part, as_ratio, by_construction
from fsgreen.papers.fast10.reference import WORKLOADS, Printed

STRONG = 0.9
"""Correlation from which a positive relation counts as strong."""


def _headline_range(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gains = printed.table3.filter(like="_x").to_numpy()
    ends = dict(numbers[0])
    high = ends.pop("value_high")
    yield implied(
        {**ends, "op": "approx"}, "smallest gain of a change, table 3", gains[gains > 1].min()
    )
    yield implied({**ends, "op": "approx", "value": high}, "largest gain, table 3", gains.max())


def _no_universal_fs(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    winners = printed.table3["recommended_fs"].to_dict()
    count = float(len(set(winners.values())))
    yield inside("different winners in table 3", count, Band(2, 4, 0), "the winner changes")
    for entry in numbers[0]["order"][:3]:
        workload, _, winner = entry.partition(": ")
        same = winners[workload] == winner.lower()
        yield holds(f"table 3 recommends {winners[workload]} for {workload}", same, winner)


def _linearity(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """The paper prints no coefficient: that ours lies in bands which we chose is no evidence."""
    wide = printed.table2.pivot_table(
        "change_percent", ["fs", "option", "workload"], "metric", dropna=True
    ).dropna()
    r = float(np.corrcoef(wide["perf"], wide["power_eff"])[0, 1])
    what = f"correlation over {len(wide)} cells of table 2"
    yield by_construction(inside(what, r, Band(STRONG, 1, 0), "near linear"))
    near = float(((wide["perf"] - wide["power_eff"]).abs() <= 3).mean())
    most = inside("within 3 points", near, Band(0.5, 1, 0), "most cells", "share")
    yield by_construction(most)


def _cpu_power_range(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    facts = printed.method["power_facts_w"]
    low, disk = min(facts["cpu"]), facts["disk_max"]
    yield holds(f"least CPU power {low} W, most disk power {disk} W", low > disk, "CPU above disk")
    yield Part("86 W to 165 W", "not testable here", needs="wall-meter")


def _meter_accuracy(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    meter = printed.method["power_measurement"]
    joules = meter["energy_resolution_wh"] * 3600
    same = math.isclose(joules, meter["energy_resolution_j"])
    yield holds(f"0.1 Wh is {joules:g} J", same, f"{meter['energy_resolution_j']} J")
    yield Part("accuracy of 1.5 % and 0.3 Wh", "not testable here", needs="reference-meter")


def _meter_runtime(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """A constant error weighs less in longer runs, whatever it is: no number could differ."""
    meter = printed.method["power_measurement"]
    error_percent = {}
    for duration_s in (60, 600):
        energy_wh = 239 * duration_s / 3600
        proportional = meter["accuracy_percent_of_value"] / 100 * energy_wh
        error_percent[duration_s] = 100 * (proportional + meter["accuracy_constant_wh"]) / energy_wh
    what = f"error at 239 W: {error_percent[60]:.1f} % in 60 s, {error_percent[600]:.1f} % in 600 s"
    smaller = error_percent[600] < error_percent[60]
    yield by_construction(holds(what, smaller, "longer runs, smaller error"))
    run_time_s = float(printed.method["workloads"]["run_time_s"])
    yield by_construction(inside("seconds of a run", run_time_s, Band(600, 600, 0), "600 s"))


def _xfs_power_vs_ext2(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    web = printed.table3.loc["webserver"]
    performance = web["perf_gain_over_worst_default_x"] / web["perf_gain_over_best_default_x"]
    efficiency = (
        web["power_eff_gain_over_worst_default_x"] / web["power_eff_gain_over_best_default_x"]
    )
    yield implied(numbers[0], "power of XFS over Ext2 by table 3", performance / efficiency)


def _web_xfs_ext2(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    bars = printed.bars("3a").set_index(["file_system", "option"])["value"]
    web = printed.table3.loc["webserver"]
    performance = bars["xfs", "default"] / bars["ext2", "default"]
    efficiency = (
        web["power_eff_gain_over_worst_default_x"] / web["power_eff_gain_over_best_default_x"]
    )
    yield implied(numbers[0], "throughput of XFS over Ext2 by their peaks", performance)
    yield implied(numbers[1], "efficiency of XFS over Ext2 by table 3", efficiency)


def _reiserfs_opt_vs_def(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    ratio = printed.effect_x("reiserfs", "noatime", "webserver", "throughput")
    yield implied(numbers[0], "reiserfs/noatime by table 2", ratio)


def _noatime_web_only(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    effect = {
        workload: printed.effect_x("reiserfs", "noatime", workload, "throughput")
        for workload in WORKLOADS
    }
    largest = max(effect, key=lambda workload: effect[workload])
    others = max(value for workload, value in effect.items() if workload != largest)
    yield holds(
        f"table 2: {largest} {effect[largest]:.2f}x, elsewhere at most {others:.2f}x",
        largest == "webserver" and effect[largest] - 1 > 10 * (others - 1),
        "webserver only",
    )


def _mail_reiserfs_others(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    notail = printed.effect_x("reiserfs", "notail", "varmail", "throughput")
    worst = printed.table3.loc["varmail", "perf_gain_over_worst_default_x"]
    yield beyond("43 % over Ext2")
    yield implied(numbers[1], "Reiserfs over XFS by tables 2 and 3", worst / notail)


def _mail_blk_less(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    for option in ("blk1k", "blk2k"):
        kept = {
            workload: printed.effect_x("reiserfs", option, workload, "throughput")
            for workload in WORKLOADS[:3]
        }
        shown = ", ".join(f"{name} {100 * (x - 1):.0f} %" for name, x in kept.items())
        mildest = max(kept, key=lambda workload: kept[workload])
        yield holds(f"{option} by table 2: {shown}", mildest == "varmail", "mildest on varmail")


def _db_default(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gain = printed.effect_x("xfs", "blk2k", "oltp", "throughput")
    worst = printed.table3.loc["oltp", "perf_gain_over_worst_default_x"]
    yield implied(numbers[0], "Ext2 over XFS by tables 2 and 3", gain / worst)
    yield beyond("Ext3 and Reiserfs level with XFS")


def _mount_doubles(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    effect = [printed.effect_x("reiserfs", "notail", "webserver", m) for m in _BOTH]
    yield implied(numbers[0], "reiserfs/notail by table 2", effect[0])
    yield implied(numbers[1], "energy per operation by table 2", 1 / effect[1])


def _careless_loss(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    for number, metric in zip(numbers, _BOTH, strict=True):
        ratio = printed.effect_x("ext2", "blk1k", "webserver", metric)
        yield implied(number, f"ext2/blk1k {metric} by table 2", ratio)
    losses = printed.table2[printed.table2["metric"] == "perf"]["change_percent"]
    yield implied(numbers[0], "largest loss of throughput in table 2", 1 + losses.min() / 100)


def _legacy_ext2(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    small = printed.effect_x("ext2", "blk1k", "webserver", "throughput")
    table = printed.table2
    ext2 = table[(table["fs"] == "ext2") & (table["workload"] == "webserver")]
    best = 1 + ext2[ext2["metric"] == "perf"]["change_percent"].max() / 100
    yield implied(numbers[0], "ext2/blk1k by table 2", small)
    yield implied(numbers[1], "best Ext2 variant over ext2/blk1k by table 2", best / small)


def _rec_web(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gains = [printed.effect_x("xfs", "isz1k", "webserver", metric) for metric in _BOTH]
    defaults = [
        _defaults(printed, figure, "xfs") / _defaults(printed, figure, "ext2")
        for figure in ("3a", "3b")
    ]
    yield implied(numbers[0], "xfs/isz1k by table 2", gains[0])
    yield implied(numbers[1], "with the peaks of the text", gains[0] * defaults[0])
    yield implied(numbers[2], "xfs/isz1k by table 2", gains[1])
    yield implied(numbers[3], "with peaks and power of the text", gains[1] * defaults[1])


def _rec_file(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    lead = _defaults(printed, "4a", "reiserfs") / _defaults(printed, "4a", "xfs")
    yield implied(numbers[1], "Reiserfs over XFS by the text", lead)
    yield beyond("efficiency")


def _rec_mail(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gains = [printed.effect_x("reiserfs", "notail", "varmail", metric) for metric in _BOTH]
    claims = {entry["bar"]: entry for entry in printed.points("5a")}
    lead = 1 / claims["x-def"]["y_high"]
    yield implied(numbers[0], "reiserfs/notail by table 2", gains[0])
    yield implied(numbers[1], "with Reiserfs over XFS of the text", gains[0] * lead)
    yield implied(numbers[2], "reiserfs/notail by table 2", gains[1])
    yield beyond("efficiency over the worst default")


def _rec_db(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    lead = _defaults(printed, "6a", "xfs") / _defaults(printed, "6a", "ext2")
    for index, metric in enumerate(_BOTH):
        gain = printed.effect_x("xfs", "blk2k", "oltp", metric)
        yield implied(numbers[2 * index], f"xfs/blk2k {metric} by table 2", gain)
        yield implied(numbers[2 * index + 1], "with XFS over Ext2 of the text", gain * lead)


def _at_least_8(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gains = printed.table3["perf_gain_over_best_default_x"]
    least = as_ratio(numbers[0]["value"], "change")
    share = float((gains >= least).mean())
    what = "workloads of table 3 with such a gain"
    yield inside(what, share, Band(0.5, 1, 0), "often at least 8 %", "share")


def _summary_ranges(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    table = printed.table2[printed.table2["metric"] == "perf"]
    ranges: list[tuple[str, pd.Series]] = []
    for kind in ("mount", "format"):
        changes = table[table["option_type"] == kind]["change_percent"]
        ranges.append((f"{kind} options in table 2", 1 + changes[changes > 0] / 100))
    ranges.append(("file systems in table 3", printed.table3["perf_gain_over_worst_default_x"]))
    for number, (what, gains) in zip(numbers, ranges, strict=True):
        ends = {**number, "op": "approx"}
        high = ends.pop("value_high")
        yield implied(ends, f"smallest gain by {what}", float(gains.min()))
        yield implied({**ends, "value": high}, f"largest gain by {what}", float(gains.max()))


def _db_table_dash_rule(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    daggers = printed.table2[printed.table2["high_variation"]]
    of = sorted(set(daggers["fs"] + " " + daggers["workload"]))
    yield inside("daggers in table 2", float(len(daggers)), Band(4, 4, 0), "4 cells")
    yield holds(f"daggers: {', '.join(of)}", of == ["ext2 webserver"], "all Ext2 on web")
    yield beyond("coefficient of variation above 40 %")


def _defaults(printed: Printed, figure: str, file_system: str) -> float:
    bars = printed.bars(figure).set_index(["file_system", "option"])["value"]
    return float(bars[file_system, "default"])


_BOTH = ("throughput", "efficiency")

RECOMPUTED = functions_of(vars(), "printed")
"""The functions above by the slug of their claim."""
