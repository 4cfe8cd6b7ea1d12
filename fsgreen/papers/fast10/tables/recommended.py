"""Table 3: the best configuration of each workload, and what it gains over the defaults."""

from __future__ import annotations

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.cells import rate_text, steady
from fsgreen.analysis.scatter import TREATMENTS, Scatters, sample
from fsgreen.analysis.tables import NOT_RUN, estimate_text
from fsgreen.design import Cell, metrics
from fsgreen.papers.fast10.reference import WORKLOADS

PRINTED = {"throughput": "perf", "efficiency": "power_eff"}
"""What fast10's columns call a metric."""


def recommended(
    printed: pd.DataFrame, cells: pd.DataFrame, scatters: Scatters, boundary: str
) -> pd.DataFrame:
    """Return a row per workload: fast10's recommendation and the best cell of the campaign.

    Gains, with their 95 % intervals, run from that over the best default file system to that over
    the worst. The intervals do not know that the best was chosen from many (rule 38).

    `printed` is the published table by workload, and `cells` is `cells.csv`. `scatters` are the
    trials, and how far they scatter. `boundary` is what the efficiency rests on, which its column
    says.
    """
    labels = {"throughput": "throughput gain", "efficiency": "efficiency gain"}
    power = {"throughput": "", "efficiency": f" ({boundary})"}
    rows = []
    for workload in WORKLOADS:
        of_workload = cells[(cells["workload"] == workload) & cells["load_ops_s"].isna()]
        row = {"workload": workload, "published": printed.loc[workload, "recommended_config"]}
        for metric, label in labels.items():
            row[f"{label}, published"] = _printed_gain(printed, workload, PRINTED[metric])
        best = _best(of_workload, "throughput")
        missing = NOT_RUN if of_workload.empty else "no steady state"
        row["ours"] = missing if best is None else _name(best)
        row["operations in a second, ours"] = missing if best is None else rate_text(best)
        for metric, label in labels.items():
            ours = "" if best is None else _gain(best, of_workload, scatters, metric)
            row[f"{label}, ours{power[metric]}"] = ours or missing
        rows.append(row)
    return pd.DataFrame(rows)


def _printed_gain(printed: pd.DataFrame, workload: str, metric: str) -> str:
    low = printed.loc[workload, f"{metric}_gain_over_best_default_x"]
    high = printed.loc[workload, f"{metric}_gain_over_worst_default_x"]
    return f"{low:g}-{high:g}"


def _best(cells: pd.DataFrame, metric: str, *, least: bool = False) -> pd.Series | None:
    """Return the steady cell that does most, or least; None without a default to compare with."""
    known = cells[steady(cells, metric)]
    if not (known["option"] == "default").any():
        return None
    values = known[metrics.get(metric).column]
    return known.loc[values.idxmin() if least else values.idxmax()]


def _name(cell: pd.Series) -> str:
    return cell["file_system"] + ("" if cell["option"] == "default" else f"-{cell['option']}")


def _gain(best: pd.Series, cells: pd.DataFrame, scatters: Scatters, metric: str) -> str:
    """Return the gains over the best and the worst default, "" where one has no mean."""
    if not steady(best.to_frame().T, metric).all():
        return ""
    defaults = cells[cells["option"] == "default"]
    ends = [_best(defaults, metric), _best(defaults, metric, least=True)]
    return " to ".join(_over(best, end, scatters, metric) for end in ends if end is not None)


def _over(cell: pd.Series, baseline: pd.Series, scatters: Scatters, metric: str) -> str:
    workload = cell["workload"]
    best, default = (Cell(**one[[*TREATMENTS]]) for one in (cell, baseline))
    if best == default:
        return "1"
    ours = stats.effect(
        sample(scatters.trials, workload, best, metric),
        sample(scatters.trials, workload, default, metric),
        scatters.of(workload, metric, best, default),
    )
    return estimate_text(ours)
