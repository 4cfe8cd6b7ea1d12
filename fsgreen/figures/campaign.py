"""The figures that every campaign has, and where its figures are kept."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from fsgreen import paths
from fsgreen.confounds import probe_basis, read_probes
from fsgreen.figures.confounds import offset_curve, queue_curve
from fsgreen.figures.irregular_cells import irregular_cells
from fsgreen.figures.style import on_disk, save
from fsgreen.reduce import read_plan, read_table, simulated_disk


def keeper(campaign: str) -> Callable[[Figure, str], None]:
    """Return what saves a figure of a campaign by its name, with the simulated disk if any."""
    folder, disk = paths.results(campaign) / "figures", simulated_disk(campaign)

    def keep(figure: Figure, name: str) -> None:
        save(on_disk(figure, disk), folder, name)

    return keep


def irregular_cells_of(campaign: str) -> Figure:
    """Return the trials of the cells whose mean hides them (rule 33)."""
    cells, trials = (read_table(campaign, name) for name in ("cells", "trials"))
    return irregular_cells(cells, trials, read_plan(campaign).constants)


def confound_curves(campaign: str) -> dict[str, Figure]:
    """Return the curves of the bare testbed by the names of their files."""
    probes, basis = read_probes(campaign), probe_basis(campaign)
    return {
        "confound_offset": offset_curve(probes["offset"], basis),
        "confound_queue": queue_curve(probes["queue"], basis),
    }


def keep_common(campaign: str) -> None:
    """Save the figures that every campaign has."""
    keep = keeper(campaign)
    keep(irregular_cells_of(campaign), "odd_cells")
    for name, curve in confound_curves(campaign).items():
        keep(curve, name)
