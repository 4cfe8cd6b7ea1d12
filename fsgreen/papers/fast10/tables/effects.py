"""Table 2: what each option changes, in throughput and in efficiency."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.tables import NOT_HERE, NOT_RUN
from fsgreen.papers.fast10.reference import FILE_SYSTEMS, GONE, METRICS, WORKLOADS
from fsgreen.reduce import at
from fsgreen.rules import repeated


def option_effects(
    printed: pd.DataFrame, cells: pd.DataFrame, effects: pd.DataFrame
) -> pd.DataFrame:
    """Return a row per file system and option: `throughput / efficiency` by workload.

    A number is a change in per cent that was told apart from the default; `-` means that
    equivalence was shown (rule 37), `?` that neither was; `not run` that the campaign has no such
    cell, `n/a` that it cannot: no kernel of today has the file system. A dagger marks a coefficient
    of variation above 40 %, the mark of `repeated` an efficiency that says no more than the
    throughput. Rows of fast10 come first, further options of the campaign after them.

    `printed` is the published table in its long form; `cells` and `effects` are `cells.csv` and
    `effects.csv`.
    """
    order = {name: index for index, name in enumerate(FILE_SYSTEMS)}
    rows = printed[["fs", "option"]].drop_duplicates().itertuples(index=False)
    wanted = [tuple(row) for row in rows]
    mark = repeated.mark_of(effects).strip()
    if "option" in effects and not effects.empty:
        extra = effects[effects["kind"] == "option"][["file_system", "option"]].drop_duplicates()
        more = {tuple(row) for row in extra.itertuples(index=False)} - set(wanted)
        wanted += sorted(more, key=lambda row: (order.get(row[0], len(order)), *row))
    return pd.DataFrame(
        [
            {"file system": file_system, "option": option}
            | {
                f"{workload}, {source}": text
                for workload in WORKLOADS
                for source, text in (
                    ("published", _published(printed, file_system, option, workload)),
                    ("ours", _ours(cells, effects, file_system, option, workload, mark)),
                )
            }
            for file_system, option in wanted
        ]
    )


def _published(printed: pd.DataFrame, file_system: str, option: str, workload: str) -> str:
    cell = {"fs": file_system, "option": option, "workload": workload}
    rows = printed[at(printed, cell)].set_index("metric")
    if rows.empty:
        return ""
    dagger = "†" if rows["high_variation"].any() else ""
    values = [rows.loc[metric, "change_percent"] for metric in METRICS.values()]
    if all(pd.isna(value) for value in values):
        return "-"
    return " / ".join(f"{value:+.0f}" for value in values) + dagger


def _ours(
    cells: pd.DataFrame,
    effects: pd.DataFrame,
    file_system: str,
    option: str,
    workload: str,
    mark: str,
) -> str:
    missing = NOT_HERE if file_system in GONE else NOT_RUN
    if effects.empty:
        return missing
    levels = {"file_system": file_system, "option": option, "workload": workload}
    rows = effects[at(effects, {"kind": "option", **levels})].set_index("metric")
    if rows.empty:
        return missing
    texts = [_outcome(rows.loc[metric].to_dict()) for metric in METRICS]
    widths_percent = cells.loc[at(cells, levels), "cv_percent"]
    dagger = "†" if (widths_percent > stats.WIDE_PERCENT).any() else ""
    shown = " / ".join(texts) + (mark if texts[-1] != "?" else "")
    return ("-" if texts == ["-", "-"] else shown) + dagger


def _outcome(row: dict[str, Any]) -> str:
    if row["outcome"] == "different":
        return f"{row['change_percent']:+.0f}"
    return "-" if row["outcome"] == "equivalent" else "?"
