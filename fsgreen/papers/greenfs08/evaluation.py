"""What can be shown of greenfs08 without a campaign: figures and tables of its ledger, and a week.

The figures are of equation 1, of the energy of a client, and of the budget of spin-ups; the week is
one that is generated, of any seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fsgreen.analysis.numbers import captioned
from fsgreen.figures import new, note, save, simulated, styled
from fsgreen.figures.style import COLOUR, GREY
from fsgreen.papers.greenfs08 import figures
from fsgreen.papers.greenfs08.claims import LIMIT
from fsgreen.papers.greenfs08.days import ASSUMED, DAY_S, lacking, woken
from fsgreen.papers.greenfs08.reference import DISKS, NETWORKS, TRACES, Printed, Way, crossover_mb
from fsgreen.papers.greenfs08.tables import tables
from fsgreen.papers.greenfs08.virtual import Simulated, read, week_of

LOOKS = dict(zip(DISKS, (COLOUR["ext2"], COLOUR["ext4"], COLOUR["xfs"]), strict=True))
DASHES = dict(zip(NETWORKS, (":", "-.", "--"), strict=True))
REASONS = {
    "new": ("it is new", COLOUR["ext2"]),
    "unprotected": ("no server has the changes", COLOUR["btrfs"]),
    "much": ("it lacks much", COLOUR["ext3"]),
    "quiet": ("nobody works", COLOUR["ext4"]),
    "unmount": ("the volume is unmounted", COLOUR["xfs"]),
}
"""Why a disk is woken, by the word that `greenfs days` has for it."""
PARTS = (
    ("disk", "asleep_j", COLOUR["ext4"]),
    ("share of the server", "server_j", COLOUR["ext3"]),
    ("network", "network_j", COLOUR["btrfs"]),
)
CAPTIONS = {
    "fig_equation": "Equation 1 with table 2: energy of a transfer by its size. Lines are as "
    "printed, marks are simulated disks that were made from table 2. At a dot, a network begins to "
    "take more energy than a stopped disk.",
    "fig_storage": "Mean power of a client's storage in generated weeks: with a disk that never "
    "stops, and with GreenFS, whose policy decides when the disk is woken. Simulated; the server's "
    "share is printed.",
    "fig_budget": "Hostile days in virtual time, by the most spin-ups in any 24 hours.",
}


def write(folder: Path) -> dict[str, Any]:
    """Write figures and tables below a folder; return what `paper/ledger.typ` shows of them.

    Returns `notes`, texts; `figures` with `file` and `caption`, and `tables` with `file` and
    `title`.
    """
    printed, days = Printed.load(), read()
    captions = {**figures.captions(), "fig_equation": CAPTIONS["fig_equation"]}
    for bars in (figures.COMPILE, figures.STARTUP):
        save(figures.elapsed(bars, printed), folder / "figures", f"fig{bars.number}")
    save(equation(printed, days), folder / "figures", "fig_equation")
    if days is not None:
        captions |= CAPTIONS
        save(storage(days), folder / "figures", "fig_storage")
        save(budget(days), folder / "figures", "fig_budget")
    made = tables(printed, days)
    for name, _, table in made:
        table.to_csv(folder / "tables" / f"{name}.csv", index=False, lineterminator="\n")
    return {
        "notes": [
            "No trial is behind these figures and tables. They are recomputed from print, or "
            "simulated in virtual time, and each says which. What trials found is in the report "
            "of each campaign.",
            *(f"Assumed of generated days: {text}." for text in ASSUMED),
        ],
        "figures": captioned(captions),
        "tables": [{"file": f"tables/{name}.csv", "title": title} for name, title, _ in made],
    }


@styled
def equation(printed: Printed, days: Simulated | None) -> Figure:
    """Return the energy of a transfer by its size, of each way of table 2."""
    figure = new(3.0)
    axes = figure.add_subplot()
    sizes_mb = np.logspace(-1, 3.3, 100)
    ways = printed.ways
    for name, colour in LOOKS.items():
        axes.plot(sizes_mb, _energies_j(ways[name], sizes_mb), color=colour, label=name)
        if days is not None:
            rows = days.transfers[days.transfers["disk"] == DISKS[name]]
            axes.plot(rows["size_mb_count"], rows["energy_j"], "o", color=colour, markersize=4)
    for name, dash in DASHES.items():
        axes.plot(sizes_mb, _energies_j(ways[name], sizes_mb), dash, color=GREY, label=name)
        for disk in DISKS:
            size_mb = crossover_mb(ways[disk], ways[name])
            if math.isfinite(size_mb):
                axes.plot(size_mb, ways[disk].energy_j(size_mb), "k.", markersize=7)
                axes.annotate(
                    f"{size_mb:.0f} MB",
                    (size_mb, ways[disk].energy_j(size_mb)),
                    xytext=(4, -9),
                    textcoords="offset points",
                    fontsize=7,
                )
    axes.set(xscale="log", yscale="log", xlabel="MB", ylabel="joules")
    axes.legend(ncols=2)
    if days is not None:
        simulated(axes)
    return figure


def _energies_j(way: Way, sizes_mb: Iterable[float]) -> list[float]:
    return [way.energy_j(size_mb) for size_mb in sizes_mb]


@styled
def storage(days: Simulated) -> Figure:
    """Return the mean power of a client's storage by disk, awake and with GreenFS."""
    figure = new(2.6)
    for axes, trace in zip(figure.subplots(1, 2, sharey=True), TRACES, strict=True):
        weeks = days.weeks[days.weeks["trace"] == trace]
        for place, disk in enumerate(DISKS.values()):
            rows = weeks[weeks["disk"] == disk]
            per_s = 1 / rows["duration_s"]
            awake_w = (rows["awake_j"] * per_s).mean()
            axes.bar(place - 0.2, awake_w, 0.35, facecolor="none", edgecolor=GREY)
            below_w = 0.0
            for part, column, colour in PARTS:
                part_w = (rows[column] * per_s).mean()
                label = part if place == 0 else None
                axes.bar(place + 0.2, part_w, 0.35, below_w, color=colour, label=label)
                below_w += part_w
            saved = 100 * (1 - below_w / awake_w)
            axes.text(place + 0.2, below_w + 0.1, f"{-saved:+.0f} %", ha="center", fontsize=7)
        axes.set_xticks(range(len(DISKS)), [name.removesuffix("_hdd") for name in DISKS])
        axes.set_title(f"rates of {trace}")
        simulated(axes)
    figure.axes[0].set_ylabel("watts")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    note(figure, "hollow: the disk alone, never stopped; filled: with GreenFS")
    return figure


@styled
def budget(days: Simulated) -> Figure:
    """Return how many runs of hostile days had how many spin-ups in any 24 hours, at most."""
    figure = new(2.0)
    axes = figure.add_subplot()
    table = days.budget
    axes.bar(table["most_in_a_day_count"], table["runs_count"], 0.6, color=COLOUR["ext4"])
    axes.axvline(LIMIT + 0.5, color=GREY, linestyle="--")
    axes.text(LIMIT + 0.55, axes.get_ylim()[1] * 0.9, "the bound", fontsize=7, color=GREY)
    axes.set_xticks(range(LIMIT + 3))
    axes.set(xlabel="most spin-ups in any 24 hours", ylabel="runs of ten days")
    note(figure, f"{table['days_count'].sum():,} days in virtual time, by GreenFS's own policy")
    return figure


@styled
def week(trace: str, seed: int = 1) -> Figure:
    """Return what the sleeping disk of a client lacks in a generated week, and why it is woken.

    `trace` is one of table 3, whose rates the client has; `seed` is that of the week.
    """
    of = week_of(Printed.load(), trace, seed)
    spins = woken(of.events(trace))[trace]
    figure = new(2.6)
    axes = figure.add_subplot()
    axes.plot(*lacking(of, spins), color=GREY, linewidth=1)
    for why, (label, colour) in REASONS.items():
        if at_days := [spin.at_s / DAY_S for spin in spins if spin.why == why]:
            zeros = [0.0] * len(at_days)
            axes.plot(at_days, zeros, "^", color=colour, markersize=8, label=f"woken: {label}")
    axes.set(xlabel="days since a midnight", ylabel="MB that the disk lacks")
    axes.set_title(f"rates of {trace}")
    figure.legend(loc="outside upper right")
    simulated(axes)
    return figure
