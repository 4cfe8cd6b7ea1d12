"""A forest plot: the effect of each configuration relative to the present one."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.figures import empty, flag, intervals_of, look_of, modelled, new, note, styled
from fsgreen.figures.confounds import FLAG
from fsgreen.figures.forest import heading, ratio_axis
from fsgreen.figures.style import BEHIND_WORDS, UNCORRECTED
from fsgreen.recommend.changes import KINDS
from fsgreen.words import plural

HEADING = {
    "mount": "mount options",
    "offline": "in place, unmounted",
    "format": "format options (mkfs)",
    "file system": "other file systems (mkfs)",
}
DECIDED = ("gain", "loss")
TITLE = {"throughput": "operations per second", "efficiency": "operations per joule"}
ROW_IN = 0.17


@styled
def forest(table: pd.DataFrame) -> Figure:
    """Return a figure of effects with 95 % intervals, on throughput and efficiency side by side.

    Rows are grouped by the kind of change and ranked by throughput. A filled mark differs clearly
    from the present configuration. A mark with a dagger may be the effect of a confound. The grey
    band is the bound of equivalence. A configuration without a steady state has no mark. A metric
    in which no configuration has one has no panel.

    `table` has the rows of one workload, as `recommend` returns them.
    """
    now = table[table["change"] == "none"].iloc[0]
    lines = _lines(table[table["metric"] == "throughput"])
    if not any(isinstance(line, tuple) for line in lines):
        return empty(new(1.2), f"Nothing but {now['file_system']}/{now['option']} to choose from.")
    figure = new(1.1 + ROW_IN * len(lines))
    # In the file, letters are a little wider than at the resolution of the layout.
    figure.set_layout_engine("constrained", w_pad=0.1)
    shown = _with_a_mark(table)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, metric in zip(panels, shown, strict=True):
        of_metric = table[table["metric"] == metric].set_index(["file_system", "option"])
        for place, line in enumerate(lines):
            if isinstance(line, tuple):
                _mark(axes, place, of_metric.loc[line], line[0])
        flag(axes, _flagged(lines, of_metric))
        _scale(axes, of_metric[of_metric["verdict"] != "inconsistent"])
        axes.set_title(TITLE[metric])
        axes.tick_params(axis="y", length=0)
        if metric == "efficiency":
            modelled(axes, now["boundary"])
    _names(panels[0], lines)
    name = look_of(now["file_system"]).name
    figure.suptitle(f"{now['workload']}: relative to {name} {now['option']}", x=0.01, ha="left")
    least, most = table["n"].min(), table["n"].max()
    blocks = f"{least}" if least == most else f"{least} to {most}"
    lows = table["ratio_low_x"].where(table["change"] != "none")  # what there is now is exactly 1
    intervals = intervals_of(lows, table["n"])
    if lows.notna().any():
        counted = plural(blocks, "block")
        intervals += f" ({counted}); {UNCORRECTED}; filled: a clear difference (Holm)"
    confounded = f"; {FLAG}: may be the work of a confound" if _endangered(table).any() else ""
    note(
        figure,
        f"{intervals}; band: differences below {now['bound_percent']:g} %{confounded}"
        f"{_left_out(shown)}",
    )
    return figure


def _with_a_mark(table: pd.DataFrame) -> list[str]:
    """Return the metrics in which some configuration has a steady state; all if there are none."""
    candidates = table[table["change"] != "none"]
    sound = set(candidates.loc[candidates["verdict"] != "inconsistent", "metric"])
    return [metric for metric in TITLE if metric in sound] or list(TITLE)


def _left_out(shown: list[str]) -> str:
    """Return the sentence on metrics that have no panel; "" if all have one."""
    left = [title for metric, title in TITLE.items() if metric not in shown]
    return f"\n{' and '.join(left)}: no steady state anywhere" if left else ""


def _lines(ranked: pd.DataFrame) -> list[str | tuple[str, str]]:
    """Return headings and configurations from top to bottom."""
    lines: list[str | tuple[str, str]] = []
    for kind in KINDS[1:]:
        rows = ranked[ranked["change"] == kind]
        if not rows.empty:
            lines.append(HEADING[kind])
            lines += zip(rows["file_system"], rows["option"], strict=True)
    return lines


def _endangered(rows: pd.DataFrame) -> pd.Series:
    return rows["gate"].isin(("flagged", "unknown")) & (rows["verdict"] != "inconsistent")


def _flagged(
    lines: list[str | tuple[str, str]], of_metric: pd.DataFrame
) -> list[tuple[float, float]]:
    """Return the places of a panel's flags: after the interval, in the middle of its row."""
    rows = of_metric[_endangered(of_metric)]
    ends = rows["ratio_high_x"].fillna(rows["ratio_x"]).dropna()
    return [(1.05 * end, lines.index(config) + 0.5) for config, end in ends.items()]


def _mark(axes: Axes, place: int, row: pd.Series, file_system: str) -> None:
    if row["verdict"] == "inconsistent":
        inside = axes.get_yaxis_transform()
        axes.text(
            *(0.01, place, row["says"]),
            transform=inside,
            va="center",
            fontsize=7,
            fontstyle="italic",
            bbox=BEHIND_WORDS,
        )
        return
    colour = look_of(file_system).colour
    axes.errorbar(
        row["ratio_x"],
        place,
        xerr=[[row["ratio_x"] - row["ratio_low_x"]], [row["ratio_high_x"] - row["ratio_x"]]],
        marker=look_of(file_system).marker,
        markersize=4.5,
        color=colour,
        markerfacecolor=colour if row["verdict"] in DECIDED else "white",
        linewidth=1.0,
        linestyle="none",
    )


def _scale(axes: Axes, of_metric: pd.DataFrame) -> None:
    bound = of_metric["bound_percent"].iloc[0] / 100
    axes.axvspan(1 - bound, 1 / (1 - bound), color="#E8E8E8", linewidth=0)
    low = of_metric[["ratio_x", "ratio_low_x"]].min().min()
    high = of_metric[["ratio_x", "ratio_high_x"]].max().max()
    ratio_axis(axes, min(0.8, low / 1.1), max(1.25, high * 1.1))


def _names(axes: Axes, lines: list[str | tuple[str, str]]) -> None:
    names = {
        place: f"{look_of(line[0]).name} {line[1]}"
        for place, line in enumerate(lines)
        if isinstance(line, tuple)
    }
    axes.set_yticks(list(names), names.values())
    axes.set_ylim(len(lines) - 0.4, -1.2)
    for place, line in enumerate(lines):
        if isinstance(line, str):
            heading(axes, place, line)
