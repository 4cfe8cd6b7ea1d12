"""The 71 claims of greenfs08: what they are judged on, and checks in virtual time.

The checks are on generated days and simulated disks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis import claims
from fsgreen.analysis.claims.ledger import VIRTUAL, Check, functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Band, Part, about, band, written
from fsgreen.papers.greenfs08.published import RECOMPUTED
from fsgreen.papers.greenfs08.reference import DISKS, Printed
from fsgreen.papers.greenfs08.virtual import Simulated, read
from fsgreen.papers.virtualtime import Model, of_model, part

__all__ = ["CHECKS", "RECOMPUTED", "models_of", "printed", "sources_of"]

printed = Printed.load

LIMIT = 4
"""Spin-ups in any 24 hours: the default of `greenfs mount --spin-ups`; the paper names no limit."""
WITHIN = 0.01
"""How far the energy of a simulated transfer may be from the line of equation 1."""
CLIENT = "greenfs08-desktop"
"""The disk of DESKTOP, whose whole power table 4 prints."""


@dataclass(frozen=True)
class Days(Model):
    """What claims are judged on in virtual time: tables that no campaign has."""

    simulated: Simulated
    printed: Printed
    needs: Mapping[str, str]

    def of(self, trace: str, disk: str = CLIENT) -> pd.DataFrame:
        """Return the weeks of a trace with a disk, a row for each block."""
        weeks = self.simulated.weeks
        return weeks[(weeks["trace"] == trace) & (weeks["disk"] == disk)]


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, Any]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    return {**claims.sources_of(campaign, of_paper), **models_of(of_paper)}


def models_of(of_paper: claims.Claims) -> dict[str, Any]:
    """Return what claims are judged on that no campaign has: days in virtual time, if there are."""
    simulated = read()
    return {} if simulated is None else {VIRTUAL: Days(simulated, Printed.load(), of_paper.needs)}


def storage_ratio(weeks: pd.DataFrame) -> pd.Series:
    """Return the storage energy with GreenFS over that of a disk that never stops, by week.

    With it are the disk, the network and the client's share of the server.
    """
    return (weeks["asleep_j"] + weeks["network_j"] + weeks["server_j"]) / weeks["awake_j"]


def total_ratio(weeks: pd.DataFrame, whole_w: float) -> pd.Series:
    """Return the energy of a client with GreenFS over that without, by week.

    `whole_w` is the power of the client with a disk that never stops.
    """
    whole_j = whole_w * weeks["duration_s"]
    return 1 - weeks["awake_j"] * (1 - storage_ratio(weeks)) / whole_j


def _storage(days: Days, numbers: Numbers) -> Iterator[Part]:
    ours = stats.mean_ci(storage_ratio(days.of("JEFF")))
    target = band(numbers[0], "simulated", 0.0)
    what = "disk, network and a fiftieth of the server over a disk that never stops, desktop"
    yield part(what, ours, target, written(numbers[0]), "change")


def _total(days: Days, numbers: Numbers) -> Iterator[Part]:
    whole_w = float(days.printed.idle.loc["DESKTOP", "original_power_w"])
    ours = stats.mean_ci(total_ratio(days.of("JEFF"), whole_w))
    target = band(numbers[0], "simulated", 0.0)
    what = f"DESKTOP of {whole_w:g} W with the simulated disk asleep, over awake"
    yield part(what, ours, target, written(numbers[0]), "change")


def _one_spin_up(days: Days, numbers: Numbers) -> Iterator[Part]:
    weeks = days.of("JEFF")
    a_day = weeks["spin_ups_count"] / (weeks["duration_s"] / 86_400)
    ours = stats.Estimate.over_all(a_day)
    value = numbers[0]["value"]
    what = "spin-ups a day, from the week with least to the one with most"
    yield part(what, ours, Band(value, value, 0), f"{value:g}")


def _budget(days: Days, numbers: Numbers) -> Iterator[Part]:
    table = days.simulated.budget
    most = int(table["most_in_a_day_count"].max())
    what = "most spin-ups in any 24 hours of hostile days"
    ours = stats.Estimate.exactly(most, int(table["runs_count"].sum()))
    days_count = f"{table['days_count'].sum():,} days"
    yield part(what, ours, Band(0, LIMIT, 0), f"bounded; here by {LIMIT}", detail=days_count)
    copied_b = days.simulated.growing["copied_b"].iloc[:3].to_numpy()
    least = float((copied_b[1:] / copied_b[:-1]).min())
    what = "what a further spin-up of a day takes over the one before, at least"
    yield part(
        what, stats.Estimate.exactly(least), Band(math.nextafter(1, 2), math.inf, 1), "adapts", "x"
    )


def _equation(days: Days, numbers: Numbers) -> Iterator[Part]:
    """Yield, for each disk, how far the energy of a size is from a straight line, at most.

    The line is through the smallest and the largest size: that energy grows by P / B is the claim,
    and table 2's values are claims of their own.
    """
    for disk, rows in days.simulated.transfers.groupby("disk", sort=False):
        sizes_mb, energy_j = (rows[name].to_numpy() for name in ("size_mb_count", "energy_j"))
        line_j = np.interp(sizes_mb, sizes_mb[[0, -1]], energy_j[[0, -1]])
        ratios = energy_j / line_j
        worst = int(np.abs(ratios - 1).argmax())
        what = f"{disk}: energy over a straight line, at the worst size"
        target = Band(1 - WITHIN, 1 + WITHIN, 0)
        ours = stats.Estimate.exactly(float(ratios[worst]), len(rows))
        yield part(what, ours, target, "1x", "x", detail=f"{sizes_mb[worst]} MB")


def _row_of_table2(name: str) -> Check:
    """Return the check of a disk of table 2 on the simulated one that was made of it."""

    def check(days: Days, numbers: Numbers) -> Iterator[Part]:
        rows = days.simulated.transfers
        rows = rows[rows["disk"] == DISKS[name]].sort_values("size_mb_count")
        small, large = rows.iloc[0], rows.iloc[-1]
        more_mb = large["size_mb_count"] - small["size_mb_count"]
        more_j = large["energy_j"] - small["energy_j"]
        more_s = large["duration_s"] - small["duration_s"]
        simulated = (
            ("start-up energy, J", small["energy_j"] - more_j / more_mb * small["size_mb_count"]),
            ("transfer power, W", more_j / more_s),
            ("bandwidth, MB/s", more_mb / more_s),
        )
        for (what, value), number in zip(simulated, numbers, strict=False):
            target = about(number["value"])
            yield part(
                what, stats.Estimate.exactly(value, len(rows)), target, f"{number['value']:g}"
            )

    return check


def _standby(days: Days, numbers: Numbers) -> Iterator[Part]:
    for row in days.simulated.disks.to_dict("records"):
        busy, idle = (row[name] / row["standby_w"] for name in ("transfer_w", "idle_w"))
        tenth = band({**numbers[0], "unit": "x"}, "simulated", 0.0)
        yield part(
            f"{row['disk']}: busy over stopped",
            stats.Estimate.exactly(busy),
            tenth,
            "about 10x",
            "x",
        )
        third = band({**numbers[1], "unit": "x"}, "simulated", 0.0)
        what = f"{row['disk']}: idle over stopped"
        yield part(what, stats.Estimate.exactly(idle), third, "at least 3x", "x")


def _server_rate(days: Days, numbers: Numbers) -> Iterator[Part]:
    weeks = days.of("JEFF")
    ours = stats.mean_ci(weeks["requests_count"] / weeks["duration_s"])
    what = "requests a second to the server: every update, and each file once"
    yield part(what, ours, about(numbers[0]["value"]), f"{numbers[0]['value']:g}")


def _trip(name: str) -> Check:
    """Return the check of GreenFS's side of a way of table 5; APS is another machine's."""

    def check(days: Days, numbers: Numbers) -> Iterator[Part]:
        stops = int(days.simulated.trips.set_index("trip").loc[name, "disk_stops_count"])
        what = f"spin-ups of a sleeping disk on the {name} trip"
        yield part(what, stats.Estimate.exactly(stops), Band(0, numbers[-1]["value"], 0), "0")
        yield Part("APS on that way", "not testable here", needs=days.needs["accelerometer"])

    return check


_CHECKS: Mapping[str, Check] = {
    **functions_of(vars(), "days"),
    **{f"table2_{name}": _row_of_table2(name) for name in DISKS},
    **{f"trip_{name}": _trip(name) for name in ("elevator", "stairs")},
}

CHECKS: dict[str, Check] = {name: of_model(check) for name, check in _CHECKS.items()}
"""The functions above by their name in `claims.yaml`."""
