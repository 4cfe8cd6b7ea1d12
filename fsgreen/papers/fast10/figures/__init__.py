"""The figures of fast10 from a campaign, beside the published values where there are any."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from fsgreen import paths
from fsgreen.confounds import Gate, read_probes
from fsgreen.figures import offset_curve, on_disk, queue_curve, save
from fsgreen.papers.fast10.figures.configurations import configurations
from fsgreen.papers.fast10.figures.cpu_split import cpu_split
from fsgreen.papers.fast10.figures.power_by_load import power_by_load
from fsgreen.papers.fast10.reference import WORKLOADS, Printed
from fsgreen.papers.fast10.tables import write_tables
from fsgreen.reduce import read_table, simulated_disk

__all__ = ["configurations", "cpu_split", "power_by_load", "write"]


def write(campaign: str) -> Path:
    """Write figures 1 to 6b, the confounds' curves and tables 1 to 3; return the figures' folder.

    Figures are SVG and PNG in `figures/`, tables CSV and TeX in `tables/`.
    """
    cells, trials = read_table(campaign, "cells"), read_table(campaign, "trials")
    printed, gate = Printed.load(), Gate.of(campaign)
    folder, disk = paths.results(campaign) / "figures", simulated_disk(campaign)

    def keep(figure: Figure, name: str) -> None:
        save(on_disk(figure, disk), folder, name)

    keep(power_by_load(cells, printed.points("1")), "fig1")
    keep(cpu_split(cells), "fig2")
    for number, workload in enumerate(WORKLOADS, start=3):
        for panel, metric in (("a", "throughput"), ("b", "efficiency")):
            name = f"{number}{panel}"
            figure = configurations(cells, trials, printed.bars(name), workload, metric, gate)
            keep(figure, f"fig{name}")
    probes = read_probes(campaign)
    keep(offset_curve(probes["offset"]), "confound_offset")
    keep(queue_curve(probes["queue"]), "confound_queue")
    write_tables(campaign, printed)
    return folder
