"""The figures of fast10 from a campaign, beside the published values where there are any."""

from __future__ import annotations

from pathlib import Path

from fsgreen import paths
from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.scatter import Scatters
from fsgreen.analysis.tables import as_shown
from fsgreen.confounds import Gate
from fsgreen.figures import empty, keep_common, keeper, new
from fsgreen.papers.fast10.elsewhere import elsewhere
from fsgreen.papers.fast10.figures.configurations import configurations
from fsgreen.papers.fast10.figures.options_then_and_now import options_then_and_now
from fsgreen.papers.fast10.figures.webserver import cpu_split, power_by_load
from fsgreen.papers.fast10.reference import WORKLOADS, Printed
from fsgreen.papers.fast10.tables import write_tables
from fsgreen.papers.fast10.tables.then_and_now import paired
from fsgreen.reduce import in_guest, read_identity, read_plan, read_table

__all__ = ["configurations", "cpu_split", "options_then_and_now", "power_by_load", "write"]

GUEST = "The guest's processor was not watched: the counters are those of the machine below it."


def write(campaign: str) -> Path:
    """Write figures 1 to 6b, further ones and all tables; return the figures' folder.

    Figures are SVG and PNG in `figures/`, tables CSV and TeX in `tables/`.
    """
    plan = read_plan(campaign)
    cells, trials, effects = (
        at_baseline(read_table(campaign, name), plan) for name in ("cells", "trials", "effects")
    )
    cells = as_shown(cells)
    printed, gate, scatters = Printed.load(), Gate.of(campaign), Scatters(trials)
    baseline, apart = plan.baseline["file_system"], elsewhere(trials)
    keep = keeper(campaign)
    keep(power_by_load(cells, printed.points("1")), "fig1")
    guest = in_guest(read_identity(campaign))
    keep(empty(new(1.2), GUEST) if guest else cpu_split(cells), "fig2")
    for number, workload in enumerate(WORKLOADS, start=3):
        for panel, metric in (("a", "throughput"), ("b", "efficiency")):
            name = f"{number}{panel}"
            bars = printed.bars(name)
            figure = configurations(cells, scatters, bars, workload, metric, baseline, gate, apart)
            keep(figure, f"fig{name}")
    keep(options_then_and_now(paired(printed.table2, effects, apart)), "fig_options")
    keep_common(campaign)
    write_tables(campaign, printed, cells, scatters, effects, apart)
    return paths.results(campaign) / "figures"
