"""Every number and text of the fast10 report that comes from data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fsgreen.analysis.cells import at_baseline, rate_text, steady
from fsgreen.analysis.numbers import campaign_numbers, captioned, probed
from fsgreen.analysis.tables import as_shown, rows_left_out
from fsgreen.papers.fast10.reference import FILE_SYSTEMS, GONE, WORKLOADS, Printed
from fsgreen.reduce import read_plan, read_table


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/fast10.typ` shows, ready to be written as JSON."""
    printed = Printed.load()
    shared = campaign_numbers(campaign, printed.method["paper"])
    plan, whole = read_plan(campaign), read_table(campaign, "cells")
    trials, cells, effects = (
        at_baseline(table, plan)
        for table in (read_table(campaign, "trials"), whole, read_table(campaign, "effects"))
    )
    return {
        **shared,
        "leaders": _leaders(as_shown(cells), effects),
        "figures": _figures(
            str(shared["boundary"]), shared["repeated"]["mark"], plan.baseline["file_system"]
        ),
        "left_out": rows_left_out(campaign),
        "probed": probed(campaign),
        "not_run": [
            *shared["not_run"],
            *_options_not_run(trials, printed),
            *_not_shown(whole, cells),
        ],
    }


def _not_shown(whole: pd.DataFrame, shown: pd.DataFrame) -> list[str]:
    more = len(whole) - len(shown)
    if not more:
        return []
    return [
        f"not in these figures, tables and claims: {more} cells that were measured in another "
        "state than the baseline's; they stand in cells.csv and effects.csv"
    ]


def _leaders(cells: pd.DataFrame, effects: pd.DataFrame) -> list[list[str]]:
    """Return the default file system with most throughput per workload, and how sure that is.

    What has no steady state cannot lead, and is named beside what does as such (rule 24).
    """
    defaults = cells[(cells["option"] == "default") & cells["load_ops_s"].isna()]
    pairs = effects[(effects["kind"] == "file system") & (effects["metric"] == "throughput")]
    rows = []
    for workload, of_workload in defaults.groupby("workload"):
        ranked = of_workload[steady(of_workload)]
        ranked = ranked.sort_values("throughput_ops_s", ascending=False)
        if ranked.empty:
            rows.append([str(workload), "none", "no steady state", "", ""])
            continue
        first = ranked.to_dict("records")[0]
        level = [
            other["file_system"] + ("" if settled else " (no steady state)")
            for other, settled in zip(
                of_workload.to_dict("records"), steady(of_workload), strict=True
            )
            if other["file_system"] != first["file_system"]
            and _outcome(pairs, str(workload), first, other) != "different"
        ]
        beside = ", ".join(level) or "none"
        work = _most_work(of_workload[steady(of_workload, "efficiency")])
        rows.append([str(workload), first["file_system"], rate_text(first), beside, work])
    return rows


def _most_work(cells: pd.DataFrame) -> str:
    if cells.empty:
        return "no steady state"
    most = cells.loc[cells["efficiency_ops_j"].idxmax()]
    return f"{most['efficiency_ops_j']:,.0f} ops/J ({most['file_system']})"


def _outcome(pairs: pd.DataFrame, workload: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    names = {one["file_system"], other["file_system"]}
    row = pairs[
        (pairs["workload"] == workload)
        & pairs["file_system"].isin(names)
        & pairs["baseline_file_system"].isin(names)
    ]
    return str(row["outcome"].iloc[0])


def _figures(boundary: str, mark: str, baseline: str) -> list[dict[str, str]]:
    power = f"{boundary} power" if boundary == "modelled" else f"power at the {boundary}"
    captions = {
        "fig1": f"Figure 1: mean {power} against load, webserver, beside the published points.",
        "fig2": "Figure 2: how the CPU spends its time at the highest web load.",
    }
    beside = "Below: relative to one file system, beside the published ratios."
    if baseline not in FILE_SYSTEMS:
        beside = (
            "Below: beside the published ratios, and so relative to a file system that fast10 "
            f"measured, not to {baseline}, the baseline of the study."
        )
    for number, workload in enumerate(WORKLOADS, start=3):
        captions[f"fig{number}a"] = f"Figure {number}a: throughput, {workload}. {beside}"
        captions[f"fig{number}b"] = (
            f"Figure {number}b: work per energy ({power}){mark}, {workload}."
        )
    captions["fig_options"] = (
        "Options, as published and as measured here: throughput relative to the file system's "
        "default. On the diagonal nothing has changed."
    )
    return captioned(captions)


def _options_not_run(trials: pd.DataFrame, printed: Printed) -> list[str]:
    have = set(zip(trials["workload"], trials["file_system"], trials["option"], strict=True))
    lacking = {
        f"{fs} {option}"
        for fs, option in printed.table2[["fs", "option"]].drop_duplicates().itertuples(index=False)
        if fs not in GONE and not any((w, fs, option) in have for w in WORKLOADS)
    }
    if not lacking:
        return []
    return [f"options of table 2 without any trial: {', '.join(sorted(lacking))}"]
