"""Every number and text of a report of one's own study that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen import paths
from fsgreen.analysis.numbers import campaign_numbers, probed
from fsgreen.analysis.tables import as_shown
from fsgreen.figures import AXES, OF_POWER, known_metrics
from fsgreen.generic.figures import any_interval_cut, figure_name, pairs_figure_name, rank_of
from fsgreen.reduce import is_imported, read_study, read_table
from fsgreen.rules import repeated


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/study.typ` shows, ready to be written as JSON."""
    study = read_study(campaign)
    shared = campaign_numbers(campaign, {"title": study.title, "question": study.question})
    return {
        **shared,
        "probed": probed(campaign),
        "cut": any_interval_cut(as_shown(read_table(campaign, "cells"))),
        "imported": is_imported(campaign),
        "figures": _figures(campaign, str(shared["boundary"]), shared["repeated"]["mark"]),
        "decided": _decided(campaign),
    }


def _decided(campaign: str) -> list[list[str]]:
    """Return how the comparisons of each kind and metric came out."""
    effects = read_table(campaign, "effects")
    if effects.empty:
        return []
    marks = {"efficiency": repeated.mark_of(effects)}
    counts = effects.groupby(["kind", "metric"])["outcome"].value_counts().unstack(fill_value=0)
    outcomes = ("different", "equivalent", "inconclusive", "inconsistent")
    return [
        [kind, metric + marks.get(metric, ""), *(str(row.get(outcome, 0)) for outcome in outcomes)]
        for (kind, metric), row in counts.to_dict("index").items()
    ]


def _figures(campaign: str, boundary: str, mark: str) -> list[dict[str, str]]:
    """Return file and caption of each figure, in the order of the report."""
    made = {
        file.stem: file.name for file in (paths.results(campaign) / "figures").glob("fig_*.svg")
    }
    cells, effects = read_table(campaign, "cells"), read_table(campaign, "effects")
    captions = {}
    for workload, of_workload in cells.groupby("workload"):
        metrics = known_metrics(of_workload)
        power = f"; {boundary} power{mark}" if {*metrics} & {*OF_POWER} else ""
        text = f"{workload}: {' and '.join(AXES[metric][1] for metric in metrics)}{power}."
        captions[figure_name(str(workload))] = text
    compared = [*effects.groupby(["kind", "metric"]).groups]
    for kind, metric in sorted(compared, key=lambda pair: rank_of(pair[1])):
        behind = mark if metric == "efficiency" else ""
        text = f"Comparisons by {kind.replace('_', ' ')}, {metric}{behind}."
        captions[pairs_figure_name(kind, metric)] = text
    return [
        {"file": made[name], "caption": text} for name, text in captions.items() if name in made
    ]
