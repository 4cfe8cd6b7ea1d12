"""The recommendations of a campaign: made from its tables, and written beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import confounds, paths
from fsgreen.analysis import configuration
from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.analysis.tables import as_shown
from fsgreen.design import Cell, Plan
from fsgreen.errors import FsgreenError
from fsgreen.progress import progress
from fsgreen.recommend.changes import KINDS
from fsgreen.recommend.table import COLUMNS, recommend
from fsgreen.reduce import (
    at,
    in_guest,
    is_imported,
    read_identity,
    read_plan,
    read_table,
    simulated,
    simulated_disk_of,
    write_table,
)
from fsgreen.rules import repeated

ADVICE = [
    "workload",
    "change",
    "best of its kind",
    "ops/s: change, now",
    "throughput",
    "what it says",
    "efficiency",
    "what that says",
    "n",
    "how",
    "risk",
]

NOT_WORTH = ("loss", "level", "no gain")
"""Verdicts on throughput that do not justify a change, unless work per joule gains."""

AS_IT_IS = "leave it as it is"


@dataclass(frozen=True)
class Source:
    """The source of a recommendation: a campaign's tables, plan, gate and identity.

    `trials` and `cells` have only the state of the baseline, without held loads.
    """

    campaign: str
    trials: pd.DataFrame
    cells: pd.DataFrame
    plan: Plan
    gate: confounds.Gate
    identity: Mapping[str, Any]
    apart: Mapping[str, str]
    """The states of each workload that was measured only in other states than the baseline's."""

    @property
    def baseline(self) -> Cell:
        """Return the baseline of the study without its workload."""
        return self.plan.baseline.only(TREATMENTS)

    def holds_for(self, workload: str) -> str:
        """Return the conditions under which a recommendation holds, in a sentence."""
        testbed, audit = self.identity["testbed"], self.identity["audit"]
        where = "in memory" if testbed.get("in_memory") else "on disk"
        if (disk := simulated_disk_of(self.identity)) is not None:
            where = f"simulated disk: {disk}"
        if in_guest(self.identity):
            where = f"{where}; {testbed['guest_kernel']}; {testbed['compares']}"
        profile = self.plan.profile
        share = profile.scale.get(workload)
        scale = "an unknown share" if share is None else f"{share:g}"
        return (
            f"Holds for {workload} at {scale} of its published size, measured for "
            f"{profile.measure_s:g} s on the testbed {testbed['kind']} ({where}), "
            f"{audit['cpu']}, {audit['kernel']}; power: {self.identity['boundary']}."
        )


def read(campaign: str) -> Source:
    """Return the source of a campaign, in the state of its study's baseline, without held loads.

    Raises FsgreenError if the campaign was imported, has not been measured or analysed, or has no
    probe of its testbed.
    """
    plan = read_plan(campaign)
    if is_imported(campaign):
        raise FsgreenError(
            f"nothing can be recommended from imported runs such as '{campaign}': the change "
            "that counts was not declared before, and nothing held the other factors",
            next_step="measure what you may change: fsgreen new STUDY",
        )
    whole = as_shown(read_table(campaign, "cells"))
    tables = (at_baseline(table, plan) for table in (read_table(campaign, "trials"), whole))
    trials, cells = (table[table["load_ops_s"].isna()] for table in tables)
    gate = confounds.Gate.of(campaign)
    others = whole[~whole["workload"].isin(cells["workload"])]
    apart = {name: _states(rows, plan) for name, rows in others.groupby("workload")}
    return Source(campaign, trials, cells, plan, gate, read_identity(campaign), apart)


def _states(rows: pd.DataFrame, plan: Plan) -> str:
    """Return in words how the state of a workload's cells differs from the study's baseline."""
    levels = plan.levels(plan.baseline) | {"load_ops_s": None}
    differing = [
        f"{name} {', '.join(_level(level) for level in rows[name].drop_duplicates())} "
        f"(baseline: {_level(level)})"
        for name, level in levels.items()
        if name not in ("workload", *TREATMENTS) and not at(rows, {name: level}).all()
    ]
    return "; ".join(differing)


def _level(level: Any) -> str:
    return "none" if pd.isna(level) else f"{level:g}" if isinstance(level, float) else str(level)


def write(campaign: str) -> Path:
    """Write `recommended.csv`, the figures and `advice.csv`; return the path of the first.

    The present configuration is the study's baseline. Workloads without it are left out. For
    imported runs, the tables are empty.
    """
    from fsgreen.figures import labelled, save
    from fsgreen.recommend.forest import forest

    tables = []
    results, label = paths.results(campaign), simulated(campaign)
    for workload, table in [] if is_imported(campaign) else _of_each_workload(read(campaign)):
        figure = labelled(forest(table), label)
        save(figure, results / "figures", f"recommended_{workload}")
        tables.append(table)
    whole = pd.concat(tables) if tables else pd.DataFrame(columns=COLUMNS)
    (results / "tables").mkdir(parents=True, exist_ok=True)
    advice(whole).to_csv(results / "tables" / "advice.csv", index=False, lineterminator="\n")
    return write_table(whole, campaign, "recommended")


def _of_each_workload(source: Source) -> Iterator[tuple[str, pd.DataFrame]]:
    now, rows = source.baseline, source.cells
    has_now = rows[at(rows, now)]
    for workload in progress(sorted(has_now["workload"].unique()), "recommending", "workload"):
        yield (
            workload,
            recommend(source.trials, rows, workload, source.plan.bounds, source.gate, now),
        )


def advice(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row of texts per workload and kind of change: the best configuration, in words.

    The best is the fastest with a gain, or the fastest of all if no gain was shown. The title of
    efficiency has a mark if work per joule only repeats work per second (rule 50).

    `table` is what `recommend` returns, for one workload or for several.
    """
    rows = []
    of_metric = {metric: rows for metric, rows in table.groupby("metric")}
    for workload, ranked in of_metric.get("throughput", table).groupby("workload"):
        (now_ops_s,) = ranked[ranked["change"] == KINDS[0]]["throughput_ops_s"]
        joules = of_metric["efficiency"]
        joules = joules[joules["workload"] == workload].set_index(["file_system", "option"])
        for kind in KINDS[1:]:
            of_kind = ranked[ranked["change"] == kind]
            if of_kind.empty:
                continue
            gains = of_kind[of_kind["verdict"] == "gain"]
            best = (of_kind if gains.empty else gains).iloc[0]
            work = joules.loc[(best["file_system"], best["option"])]
            kept = best["verdict"] in NOT_WORTH and work["verdict"] != "gain"
            rows.append(
                {
                    "workload": workload,
                    "change": kind,
                    "best of its kind": configuration.label(best),
                    "ops/s: change, now": _rates(best["throughput_ops_s"], now_ops_s),
                    "throughput": percent(best),
                    "what it says": best["says"],
                    "efficiency": percent(work),
                    "what that says": work["says"],
                    "n": best["n"],
                    "how": AS_IT_IS if kept else best["how"],
                    "risk": ("" if kept else best["risk"]) or "none more",
                }
            )
    mark = repeated.mark_of(table[table["change"] != KINDS[0]])
    advised = pd.DataFrame(rows, columns=ADVICE)
    return advised.rename(columns={"efficiency": f"efficiency{mark}"})


def percent(row: Mapping[str, Any] | pd.Series) -> str:
    """Return an effect as a change in per cent with its interval; "" without a steady state."""
    if row["verdict"] == "inconsistent":
        return ""
    value, low, high = (_signed(row[f"ratio{end}_x"]) for end in ("", "_low", "_high"))
    return f"{value} %" + ("" if pd.isna(row["ratio_low_x"]) else f" [{low}, {high}]")


def _rates(*rates_ops_s: float) -> str:
    return ", ".join("none" if pd.isna(rate) else f"{rate:,.0f}" for rate in rates_ops_s)


def _signed(ratio: float) -> str:
    text = f"{100 * (ratio - 1):+.0f}"
    return "+0" if text == "-0" else text
