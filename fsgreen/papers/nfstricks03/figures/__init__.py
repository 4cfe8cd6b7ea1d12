"""The figures of nfstricks03 from a campaign, beside the published values."""

from __future__ import annotations

from pathlib import Path

from fsgreen import paths
from fsgreen.confounds import read_probes
from fsgreen.figures import offset_curve, queue_curve, save
from fsgreen.papers.nfstricks03.figures.by_rank import by_rank
from fsgreen.papers.nfstricks03.figures.by_readers import by_readers
from fsgreen.papers.nfstricks03.figures.schedulers import schedulers
from fsgreen.papers.nfstricks03.reference import FIGURE_1, FIGURE_2, Printed
from fsgreen.papers.nfstricks03.tables import write_tables
from fsgreen.papers.readers import runs_of
from fsgreen.reduce import read_table

__all__ = ["by_rank", "by_readers", "schedulers", "write"]


def write(campaign: str) -> Path:
    """Write figures 1 to 3, one of all schedulers, the confounds' curves and the tables.

    Returns the folder of the figures, which are SVG and PNG.
    """
    runs = runs_of(campaign, read_table(campaign, "trials"), read_table(campaign, "finishes"))
    printed = Printed.load()
    folder = paths.results(campaign) / "figures"
    for number, names in (("1", FIGURE_1), ("2", FIGURE_2)):
        save(by_readers(runs, names, printed.points(number)), folder, f"fig{number}")
    save(by_rank(runs, printed.points("3")), folder, "fig3")
    save(schedulers(runs), folder, "fig3_schedulers")
    probes = read_probes(campaign)
    save(offset_curve(probes["offset"]), folder, "confound_offset")
    save(queue_curve(probes["queue"]), folder, "confound_queue")
    write_tables(campaign, runs)
    return folder
