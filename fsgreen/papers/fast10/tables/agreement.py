"""How often table 2 comes out as it was published: a count of its cells."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.papers.fast10.reference import KEY, throughput_changes
from fsgreen.papers.fast10.tables.then_and_now import of_options

HIGHER, LOWER, DASH, OPEN = "higher", "lower", "- (equivalent)", "? (neither shown)"
NOT_RUN = "not run"


def agreement(printed: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """Return a row per published outcome and a column per outcome of the campaign, throughput.

    A cell is an option of a file system under a workload. File systems that no kernel has any more
    are left out.

    Parameters
    ----------
    printed : DataFrame
        The published table in its long form.
    effects : DataFrame
        The table `effects.csv`; may be empty.
    """
    ours = of_options(effects, ["outcome", "ratio_x"])
    both = throughput_changes(printed).merge(ours, on=KEY, how="left")
    change, outcome = both["change_percent"], both["outcome"]
    then = np.select([change.isna(), change > 0], [DASH, HIGHER], LOWER)
    different = outcome == "different"
    now = np.select(
        [outcome.isna(), different & (both["ratio_x"] > 1), different, outcome == "equivalent"],
        [NOT_RUN, HIGHER, LOWER, DASH],
        OPEN,
    )
    counts = pd.crosstab(then, now).reindex(
        index=[HIGHER, LOWER, DASH], columns=[HIGHER, LOWER, DASH, OPEN, NOT_RUN], fill_value=0
    )
    return counts.rename_axis("published").rename_axis(None, axis="columns").reset_index()
