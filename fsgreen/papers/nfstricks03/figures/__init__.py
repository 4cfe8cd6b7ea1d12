"""The figures of nfstricks03 from a campaign, beside the published values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from fsgreen import paths
from fsgreen.design import Cell
from fsgreen.figures import confound_curves, irregular_cells_of, keeper, save
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.figures.by_file_system import by_file_system
from fsgreen.papers.nfstricks03.figures.by_rank import by_rank
from fsgreen.papers.nfstricks03.figures.by_readers import by_readers
from fsgreen.papers.nfstricks03.figures.schedulers import schedulers
from fsgreen.papers.nfstricks03.readers import TREATMENTS, runs_of
from fsgreen.papers.nfstricks03.reference import FIGURE_1, FIGURE_2, Printed
from fsgreen.papers.nfstricks03.spreads import spreads
from fsgreen.papers.nfstricks03.tables import write_tables
from fsgreen.reduce import read_table

__all__ = ["by_file_system", "by_rank", "by_readers", "flagged", "schedulers", "write"]


def write(campaign: str) -> Path:
    """Write figures 1 to 3, those of file systems and of schedulers, confounds' curves, tables.

    Returns the folder of the figures, which are SVG and PNG.
    """
    trials = read_table(campaign, "trials")
    real, *others = runs_of(campaign, trials, read_table(campaign, "finishes"))
    runs = [replace(real, flagged=flagged(read_table(campaign, "effects"))), *others]
    printed = Printed.load()
    folder = paths.results(campaign) / "figures"
    for number, names in (("1", FIGURE_1), ("2", FIGURE_2)):
        save(by_readers(runs, names, printed.points(number)), folder, f"fig{number}")
    save(by_rank(runs, printed.points("3")), folder, "fig3")
    found = spreads(runs, virtual.sizes(campaign))
    save(by_file_system(runs[0], found, printed.points("3")), folder, "fig3_file_systems")
    save(schedulers(runs), folder, "fig3_schedulers")
    keeper(campaign)(irregular_cells_of(campaign), "odd_cells")
    for name, curve in confound_curves(campaign).items():
        save(curve, folder, name)
    write_tables(campaign, runs, found)
    return folder


def flagged(effects: pd.DataFrame) -> frozenset[Cell]:
    """Return the setups whose throughput over another's the gate flagged."""
    rows = effects[(effects["gate"] == "flagged") & (effects["metric"] == "throughput")]
    return frozenset(Cell(**levels) for levels in rows[[*TREATMENTS]].to_dict("records"))
