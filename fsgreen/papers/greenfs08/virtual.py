"""What GreenFS would save, in virtual time: tables that are kept beside the published numbers.

`fsgreen simulate greenfs08` makes them: generated weeks, GreenFS's own sleeping policy and the
simulated disks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import design
from fsgreen.papers import virtualtime
from fsgreen.papers.greenfs08 import days, disks
from fsgreen.papers.greenfs08.reference import DISKS, PAPER, TRACES, TRIPS, Printed
from fsgreen.progress import progress

TABLES = ("weeks", "transfers", "disks", "budget", "growing", "trips")
MB = 1e6
SERVER_W, CLIENTS = 90.0, 50
"""BLADE idles at 90 W (table 4), for 50 clients (section 4.2)."""


@dataclass(frozen=True)
class Simulated:
    """The tables of `fsgreen simulate greenfs08`.

    `weeks` has a row for each trace, disk and block: a generated week of a client, with
    `awake_j` of a disk that never stops and, with GreenFS, `asleep_j` of the disk, `network_j` and
    `server_j`, the client's share; `spin_ups_count` of the week and `most_in_a_day_count`;
    `requests_count` to the server.

    `transfers` has `energy_j` and `duration_s` of `size_mb_count` megabytes from a stopped disk
    beside `equation_j` of table 2; `disks` the states of each disk.

    `budget` counts runs of hostile days by `most_in_a_day_count`; `growing` has the spin-ups of a
    day on which ever more files come; `trips` the `disk_stops_count` of table 5's ways.
    """

    weeks: pd.DataFrame
    transfers: pd.DataFrame
    disks: pd.DataFrame
    budget: pd.DataFrame
    growing: pd.DataFrame
    trips: pd.DataFrame


def simulate(study: str, profile: str, name: str | None = None) -> Path:
    """Write the tables anew; return their folder.

    There are as many weeks as the profile has blocks; seeds follow from the study's. A `name` is
    refused: what is simulated here belongs to no campaign. Raises FsgreenError if a campaign is
    named, or the engine is not installed or too old.
    """
    virtualtime.refuse_name(study, profile, name)
    declared = design.load_study(study)
    blocks = design.make_plan(declared, profile).profile.blocks
    tables = {
        "weeks": list(_weeks(declared.seed, blocks)),
        "transfers": list(_transfers()),
        "disks": [{"disk": DISKS[name], **disks.facts(DISKS[name])._asdict()} for name in DISKS],
        "budget": days.budget(declared.seed),
        "growing": [spin._asdict() for spin in days.woken(days.growing())["growing"]],
        "trips": list(_trips()),
    }
    return virtualtime.write(study, tables, seed=declared.seed, assumed=list(days.ASSUMED))


def read() -> Simulated | None:
    """Return the tables, or None where there are none.

    Raises FsgreenError if a file is not the one that was written.
    """
    tables = virtualtime.read(PAPER, TABLES)
    return None if tables is None else Simulated(*tables)


def week_of(printed: Printed, trace: str, seed: int) -> days.Week:
    """Return a generated week with the rates that are printed of a trace of table 3."""
    row = printed.traces.loc[trace]
    return days.week(
        row["operations"] / (row["duration_h"] * 3600),
        row["update_ops_percent"] / 100,
        row["working_set_mb"] * MB,
        seed,
    )


def _weeks(seed: int, blocks: int) -> Iterator[dict[str, Any]]:
    printed = Printed.load()
    network = printed.ways["gigabit_ethernet"]
    runs = [(trace, block) for trace in TRACES for block in range(1, blocks + 1)]
    for trace, block in progress(runs, "living through weeks", "weeks"):
        week = week_of(printed, trace, seed + 1000 * TRACES.index(trace) + block)
        spins = days.woken(week.events(trace))[trace]
        sent_mb = (week.updates_count * days.UPDATE_B + week.sizes_b.sum()) / MB
        for disk in DISKS.values():
            yield {
                "trace": trace,
                "disk": disk,
                "block": block,
                "duration_s": days.DAYS * days.DAY_S,
                "work_ops": week.work_ops,
                "updates_count": week.updates_count,
                "requests_count": week.updates_count + len(week.sizes_b),
                "spin_ups_count": len(spins),
                "most_in_a_day_count": days.most_in_a_day(spins),
                "copied_b": sum(spin.copied_b for spin in spins),
                "awake_j": disks.awake_j(disk, week),
                "asleep_j": disks.asleep_j(disk, spins),
                "network_j": network.startup_j * len(week.changed) + network.per_mb_j * sent_mb,
                "server_j": SERVER_W / CLIENTS * days.DAYS * days.DAY_S,
            }


def _transfers() -> Iterator[dict[str, Any]]:
    ways = Printed.load().ways
    for name, disk in DISKS.items():
        for size_mb in disks.SIZES_MB:
            yield {
                "disk": disk,
                "size_mb_count": size_mb,
                **disks.transfer(disk, size_mb),
                "equation_j": ways[name].energy_j(size_mb),
            }


def _trips() -> Iterator[dict[str, Any]]:
    printed = Printed.load().trips
    for name in TRIPS:
        row = printed.loc[name]
        events = days.trip(name, row["trip_time_s"], row["network_available_percent"])
        stops = len(days.woken(events)[name])
        yield {"trip": name, "duration_s": row["trip_time_s"], "disk_stops_count": stops}
