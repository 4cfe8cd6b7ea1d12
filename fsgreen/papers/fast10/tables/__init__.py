"""Tables 1 to 3 of fast10, published beside ours, and three of our own, as CSV and TeX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fsgreen.analysis.scatter import Scatters
from fsgreen.analysis.tables import NOT_RUN, Ours, write_all
from fsgreen.papers.fast10.elsewhere import Elsewhere
from fsgreen.papers.fast10.reference import Printed
from fsgreen.papers.fast10.tables.effects import option_effects
from fsgreen.papers.fast10.tables.recommended import recommended
from fsgreen.papers.fast10.tables.then_and_now import agreement, then_and_now
from fsgreen.papers.fast10.tables.workloads import micro_benchmarks, workload_parameters
from fsgreen.reduce import read_plan
from fsgreen.rules import repeated

PROFILES = {"table1": "lab", "table2": "campaign", "table3": "lab", "micro": "micro"}
"""A profile of the study that has the rows of each table."""


def write_tables(
    campaign: str,
    printed: Printed,
    cells: pd.DataFrame,
    scatters: Scatters,
    effects: pd.DataFrame,
    apart: Elsewhere,
) -> Path:
    """Write tables 1 to 3 and three of our own as `.csv` and `.tex`; return their folder.

    They go into the folder of the campaign, whose plan has the scale. `printed` is what fast10
    says. `cells` and `effects` are the tables `cells.csv` and `effects.csv` in one state, as
    `at_baseline` leaves them, and `scatters` are the trials in that state, and how far they
    scatter. Of the cells `apart`, which `elsewhere` returns, claims say nothing.
    """
    plan, boundary = read_plan(campaign), str(cells["boundary"].iloc[0])
    mark, footnote = repeated.mark_of(effects), repeated.footnote(effects)
    counted = agreement(printed.table2, effects)
    any_found = counted.drop(columns=["published", NOT_RUN]).any(axis=None)
    tables: dict[str, tuple[str, pd.DataFrame]] = {
        "table1": (
            "Workload parameters, published beside ours at scale",
            workload_parameters(printed.table1, plan.profile.scale),
        ),
        "table2": (
            "Effect of options in per cent of the default; "
            f"efficiency rests on {boundary} power{footnote}",
            option_effects(printed.table2, cells, effects),
        ),
        "table3": (
            f"Best configuration and its gains; efficiency rests on {boundary} power{footnote}",
            recommended(printed.table3, cells, scatters, boundary + mark),
        ),
        "agreement": (
            "Cells of table 2 by what was published and what was found, throughput",
            counted if any_found else counted[:0],
        ),
        "then_and_now": (
            "Effects of options on throughput, published and here, per cent of the default",
            then_and_now(printed.table2, effects, apart),
        ),
        "micro": (
            "Micro-benchmarks: operations per second with 95 per cent intervals",
            micro_benchmarks(cells),
        ),
    }
    columns = {name: [c for c in tables[name][1] if "ours" in c] for name in PROFILES}
    _name, _what, *columns["micro"] = tables["micro"][1]  # the other columns are file systems
    ours = {
        name: Ours(columns[name], f"fsgreen measure {plan.study} --profile {profile}")
        for name, profile in PROFILES.items()
    }
    return write_all(campaign, tables, ours)
