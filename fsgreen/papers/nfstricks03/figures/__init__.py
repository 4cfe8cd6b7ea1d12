"""The figures of nfstricks03 from a campaign, beside the published values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from fsgreen import paths
from fsgreen.design import Cell
from fsgreen.figures import confound_curves, irregular_cells_of, keeper, save
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.figures.eight_readers import by_file_system, by_rank, schedulers
from fsgreen.papers.nfstricks03.figures.throughput import by_readers, of_server
from fsgreen.papers.nfstricks03.readers import OF_SERVER, TREATMENTS, Runs, runs_of, setup_of
from fsgreen.papers.nfstricks03.reference import FIGURE_1, FIGURE_2, Printed
from fsgreen.papers.nfstricks03.served import figure_lines, has_server
from fsgreen.papers.nfstricks03.spreads import spreads
from fsgreen.papers.nfstricks03.tables import write_tables
from fsgreen.reduce import read_table

__all__ = ["by_file_system", "by_rank", "by_readers", "flagged", "of_server", "schedulers", "write"]


def write(campaign: str) -> Path:
    """Write figures 1 to 3, those of file systems and of schedulers, confounds' curves, tables.

    Of a campaign with a server, figures 4 to 8 in place of the others. Returns the folder of the
    figures, which are SVG and PNG.
    """
    trials = read_table(campaign, "trials")
    real, *others = runs_of(campaign, trials, read_table(campaign, "finishes"))
    runs = [replace(real, flagged=flagged(read_table(campaign, "effects"))), *others]
    printed = Printed.load()
    folder = paths.results(campaign) / "figures"
    spread = spreads(runs, virtual.sizes(campaign))
    drawn = _of_server(runs, printed) if has_server(trials) else _of_files(runs, printed, spread)
    for name, figure in drawn:
        save(figure, folder, name)
    keeper(campaign)(irregular_cells_of(campaign), "irregular_cells")
    for name, curve in confound_curves(campaign).items():
        save(curve, folder, name)
    write_tables(campaign, runs, spread)
    return folder


def _of_files(
    runs: Sequence[Runs], printed: Printed, spread: pd.DataFrame
) -> Iterator[tuple[str, Figure]]:
    for number, names in (("1", FIGURE_1), ("2", FIGURE_2)):
        yield f"fig{number}", by_readers(runs, names, printed.points(number))
    yield "fig3", by_rank(runs, printed.points("3"))
    yield "fig3_file_systems", by_file_system(runs[0], spread, printed.points("3"))
    yield "fig3_schedulers", schedulers(runs)


def _of_server(runs: Sequence[Runs], printed: Printed) -> Iterator[tuple[str, Figure]]:
    for number, lines in figure_lines().items():
        what = "strides" if number == "8" else "concurrent readers"
        yield f"fig{number}", of_server(runs, lines, what, printed.points(number))


def flagged(effects: pd.DataFrame) -> frozenset[Cell]:
    """Return the setups whose throughput over another's the gate flagged."""
    rows = effects[(effects["gate"] == "flagged") & (effects["metric"] == "throughput")]
    named = ["workload", *TREATMENTS, *(name for name in OF_SERVER if name in rows)]
    return frozenset(setup_of(levels) for levels in rows[named].to_dict("records"))
