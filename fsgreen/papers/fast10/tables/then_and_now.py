"""What fast10 printed for each option beside what it does here: does the old number still hold?

And how often table 2 comes out as it was published: a count of its cells.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.analysis.tables import NOT_RUN
from fsgreen.design import DEFAULT
from fsgreen.papers.fast10.elsewhere import Elsewhere
from fsgreen.papers.fast10.reference import GONE, KEY, WORKLOADS, throughput_changes

INSIDE, OUTSIDE, UNKNOWN = "inside", "outside", "no interval"
TEXTS = [
    "workload",
    "file system",
    "option",
    "published, %",
    "here, %",
    "interval",
    "ops/s, option and default",
    "blocks",
    "the published number is",
    "in the state of the claims",
]

HIGHER, LOWER, DASH, OPEN = "higher", "lower", "- (equivalent)", "? (neither shown)"

ROUNDING_X = 0.005
"""Changes are printed in whole per cent."""


def paired(
    printed: pd.DataFrame, effects: pd.DataFrame, apart: Elsewhere = frozenset()
) -> pd.DataFrame:
    """Return a row per number of table 2 on throughput that was measured here.

    Columns are workload, file_system, option, `published_x` and, as in `effects.csv`, `n` and
    `ratio_x` with its interval and the rates of both. `published_is` says whether the published
    ratio is inside that, for any value that rounds to the printed one. What was printed as a dash
    has no number. `elsewhere` says whether the option or the default is among the cells `apart`,
    which `elsewhere` returns.

    `printed` is the published table in its long form; `effects` is `effects.csv`, and may be empty.
    """
    ours = ["n", "ratio_x", "ratio_low_x", "ratio_high_x", "candidate_ops_s", "baseline_ops_s"]
    then = throughput_changes(printed).dropna(subset="change_percent")
    then = then.assign(published_x=1 + then["change_percent"] / 100)[[*KEY, "published_x"]]
    both = then.merge(of_options(effects, ours), on=KEY)
    within = both["published_x"].between(
        both["ratio_low_x"] - ROUNDING_X, both["ratio_high_x"] + ROUNDING_X
    )
    words = within.map({True: INSIDE, False: OUTSIDE}).where(both["ratio_low_x"].notna(), UNKNOWN)
    place = both["workload"].map({name: place for place, name in enumerate(WORKLOADS)})
    sides = (both[KEY], both[KEY].assign(option=DEFAULT))
    keys = zip(*(side.itertuples(index=False, name=None) for side in sides), strict=True)
    off = [own in apart or default in apart for own, default in keys]
    both = both.assign(published_is=words, place=place, elsewhere=off)
    return both.sort_values(["place", "file_system", "option"], ignore_index=True)[
        [*KEY, "published_x", *ours, "published_is", "elsewhere"]
    ]


def of_options(effects: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return what `effects.csv` has of the throughput of options, by `KEY`; it may be empty."""
    known = effects.reindex(columns=["kind", "metric", *KEY, *columns])
    return known[(known["kind"] == "option") & (known["metric"] == "throughput")][[*KEY, *columns]]


def then_and_now(
    printed: pd.DataFrame, effects: pd.DataFrame, apart: Elsewhere = frozenset()
) -> pd.DataFrame:
    """Return the same as texts: changes in per cent of the default, with the interval of ours."""
    rows = paired(printed, effects, apart)
    return pd.DataFrame(
        [
            (
                *(row[name] for name in KEY),
                _percent(row["published_x"]),
                _percent(row["ratio_x"]),
                _interval(row["ratio_low_x"], row["ratio_high_x"]),
                f"{row['candidate_ops_s']:,.0f}, {row['baseline_ops_s']:,.0f}",
                row["n"],
                row["published_is"],
                "no" if row["elsewhere"] else "yes",
            )
            for row in rows.to_dict("records")
        ],
        columns=TEXTS,
    )


def _interval(low_x: float, high_x: float) -> str:
    return "none" if pd.isna(low_x) else f"[{_percent(low_x)}, {_percent(high_x)}]"


def _percent(ratio_x: float) -> str:
    return f"{round(100 * (ratio_x - 1)):+d}"


def agreement(printed: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """Return a row per published outcome and a column per outcome of the campaign, throughput.

    A cell is an option of a file system under a workload. A file system that today's kernels lack
    is left out, unless the campaign has options of it.

    Parameters are as in `paired`.
    """
    ours = of_options(effects, ["outcome", "ratio_x"])
    then = throughput_changes(printed)
    absent = then["file_system"].isin(GONE) & ~then["file_system"].isin(ours["file_system"])
    both = then[~absent].merge(ours, on=KEY, how="left")
    change, outcome = both["change_percent"], both["outcome"]
    published = np.select([change.isna(), change > 0], [DASH, HIGHER], LOWER)
    different = outcome == "different"
    now = np.select(
        [outcome.isna(), different & (both["ratio_x"] > 1), different, outcome == "equivalent"],
        [NOT_RUN, HIGHER, LOWER, DASH],
        OPEN,
    )
    counts = pd.crosstab(published, now).reindex(
        index=[HIGHER, LOWER, DASH], columns=[HIGHER, LOWER, DASH, OPEN, NOT_RUN], fill_value=0
    )
    return counts.rename_axis("published").rename_axis(None, axis="columns").reset_index()
