"""Two cells: how far apart they are, what else differs, and what was set differently."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fsgreen.analysis.contrast import OUTCOMES
from fsgreen.analysis.latency_profiles import conclusion
from fsgreen.errors import FsgreenError
from fsgreen.figures.style import intervals_of
from fsgreen.stats import total_profile
from fsgreen.view.explore.cells import Spot
from fsgreen.view.explore.chart import Line, Panel, Panels, Row, Rows, number, ratio_of
from fsgreen.view.explore.lines import Lines, Runner, Shown, spelled
from fsgreen.view.look import COLOURS, DASHES

MOST_SHOWN = 3
"""Operations whose latencies are drawn: those that differ most."""

MOST_NAMED = 4
"""Quantities that a sentence names."""

MARK = COLOURS[0]


@dataclass(frozen=True)
class Pair:
    """The cell that was chosen, and the one that it is compared with."""

    one: Spot
    other: Spot

    @property
    def campaigns(self) -> list[str]:
        """Return the campaign of each."""
        return [self.one.campaign, self.other.campaign]

    @property
    def in_blocks(self) -> bool:
        """Return whether both were measured in the same blocks."""
        return self.one.campaign == self.other.campaign

    @property
    def differ(self) -> list[str]:
        """Return the factors in which they differ."""
        names = dict.fromkeys([*self.one.levels, *self.other.levels])
        return [n for n in names if self.one.levels.get(n) != self.other.levels.get(n)]

    @property
    def name(self) -> str:
        """Return what files of this pair are called."""
        words = " ".join([*self.campaigns, self.one.name, "over", self.other.name])
        return "-".join("".join(c if c.isalnum() else " " for c in words).split())


def beside(runner: Runner, pair: Pair) -> Shown:
    """Return all that was counted of both cells, what is told apart first."""
    lines = contrast_lines(pair)
    table = runner.run(lines)
    rows = [_quantity(row) for row in table.to_dict("records") if row["ratio_x"] == row["ratio_x"]]
    known = intervals_of(table["ratio_low_x"], table["n"])
    axis = f"{pair.one.name} over {pair.other.name}, ratio, {known}; filled: not chance"
    return Shown(
        f"beside-{pair.name}", lines, table, _of_contrast(pair, table), Rows(axis, rows, "x", False)
    )


def latencies(runner: Runner, pair: Pair) -> Shown:
    """Return which operations take another time, and their latencies."""
    lines = opened(pair, PROFILES)
    try:
        names = runner.names(lines)
    except ValueError as error:  # histograms of another program
        raise FsgreenError(
            f"their latencies cannot be compared: {error}",
            next_step="choose two cells of the same workload program",
        ) from error
    table, profiles = names["view"], names["profiles"]
    panels = [
        Panel(
            f"{operation} (% of operations)",
            [_steps(p, str(operation), nth) for nth, p in enumerate(profiles)],
            from_zero=True,
        )
        for operation in table["operation"].head(MOST_SHOWN)
    ]
    says = conclusion(profiles[0], profiles[1], table, (pair.one.name, pair.other.name))
    chart = Panels("latency, in powers of two", panels, "s", log=True)
    return Shown(f"latencies-{pair.name}", lines, table, says, chart)


def settings(runner: Runner, pair: Pair) -> Shown:
    """Return what was set or found differently in the first trials of both cells."""
    lines = opened(pair, SETTINGS)
    table = runner.run(lines)
    says = (
        f"{len(table)} things were set or found differently."
        if len(table)
        else ("Nothing that was recorded of file system, device and machine differs.")
    )
    return Shown(f"settings-{pair.name}", lines, table, says)


def opened(pair: Pair, making: str) -> Lines:
    """Return lines that find `results` and levels of both cells in `opened` and `cells`."""
    one, other = pair.campaigns
    both = f"2 * [fsgreen.open({one!r})]"
    if one != other:
        both = f"[fsgreen.open({one!r}), fsgreen.open({other!r})]"
    opening = f"""
import fsgreen
import pandas as pd
from fsgreen import reduce

opened = {both}
"""
    cells = f"cells = {spelled([dict(pair.one.levels), dict(pair.other.levels)])}\n"
    return Lines(pair.campaigns, opening, cells + making)


CONTRAST = """
from fsgreen.analysis.contrast import contrast, counted

counts = []
for results, cell in zip(opened, cells, strict=True):
    trials = results.trials[reduce.at(results.trials, cell)]
    records = [] if "imported" in results.identity else map(results.trial, trials["trial"])
    counts.append(counted(trials, records))
view = contrast(*counts, paired={paired})
"""

PROFILES = """
from fsgreen.analysis import latency_profiles

profiles = []
for results, cell in zip(opened, cells, strict=True):
    of_cell = results.trials[reduce.at(results.trials, cell)]
    of_trials = [
        reduce.log2_profile(results.trial(name).table("latency")).assign(**cell, block=block)
        for name, block in zip(of_cell["trial"], of_cell["block"], strict=True)
    ]
    profiles.append(pd.concat(of_trials))
view = latency_profiles.profile_effects(*profiles, opened[0].plan.bounds)
"""

SETTINGS = """
from fsgreen.audit import CHECKED

told = []
for results, cell in zip(opened, cells, strict=True):
    trial = results.trial(results.trials.loc[reduce.at(results.trials, cell), "trial"].iloc[0])
    start = trial.audit()["start"]
    machine = {name: start[name] for name in CHECKED if name in start}
    known = {"cell": cell, "file_system": trial.record.mount, "machine": machine}
    told.append(pd.json_normalize(known).astype(str).iloc[0])
view = pd.DataFrame({"one": told[0], "other": told[1]}).fillna("not recorded")
view = view[view["one"] != view["other"]].rename_axis("what").reset_index()
"""


def contrast_lines(pair: Pair) -> Lines:
    """Return lines that hold all that was counted of one cell against the other."""
    return opened(pair, CONTRAST.format(paired=pair.in_blocks))


def _quantity(row: Mapping[str, Any]) -> Row:
    ends = ratio_of(row)
    told = "more than chance" if row["told_apart"] else "could be chance"
    says = f"{number(ends[0])}x"
    span = f", from {number(ends[1])} to {number(ends[2])}" if math.isfinite(ends[1]) else ""
    about = f"{row['meaning']}: {says}{span}, {told}"
    return Row(row["meaning"], says, *ends, MARK, about, bool(row["told_apart"]))


def _of_contrast(pair: Pair, table: pd.DataFrame) -> str:
    """Return what is told apart beside the outcomes themselves, in a sentence."""
    known = table[table["ratio_x"].notna()]
    apart = known[known["told_apart"] & ~known["quantity"].isin(OUTCOMES)]
    if apart.empty:
        return (
            f"None of {len(known)} quantities beside the outcome differs by more than chance: what "
            f"was counted does not say why {pair.one.name} and {pair.other.name} differ."
        )
    first = "; ".join(
        f"{row['meaning']} {number(row['ratio_x'])}x"
        for row in apart.head(MOST_NAMED).to_dict("records")
    )
    more = f", and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
    return (
        f"{pair.one.name} against {pair.other.name}, beyond chance by Holm over {len(known)} "
        f"quantities: {first}{more}. These go along with the difference; that they cause it, "
        "no table shows."
    )


def _steps(profile: pd.DataFrame, operation: str, nth: int) -> Line:
    """Return the share of operations by latency: A as a whole line, B dashed."""
    counts = total_profile(profile[profile["operation"] == operation])
    buckets = np.flatnonzero(counts)
    first, last = (int(buckets[0]), int(buckets[-1])) if len(buckets) else (0, 0)
    percent = 100 * counts[first : last + 1] / (counts.sum() or 1.0)
    edges_s = np.exp2(np.arange(first, last + 3)) / 1e9
    y = [0.0, *percent, 0.0]
    x = [edges_s[0], *edges_s[: len(percent)], edges_s[len(percent)]]
    colour, dash = COLOURS[nth], DASHES[nth]
    return Line("AB"[nth], [*map(float, x)], [*map(float, y)], colour, dash, "steps")
