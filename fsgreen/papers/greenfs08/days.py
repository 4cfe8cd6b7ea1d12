"""Generated days of a client of GreenFS, and when its disk would be woken on them.

The rates are those that greenfs08 prints of its traces; the traces are not public. What else a day
takes is assumed here, and `ASSUMED` says so. When the disk is woken is decided by GreenFS itself:
the program `greenfs days` runs the sleeping policy of a mount in virtual time.
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fsgreen import greenfs, paths
from fsgreen.errors import FsgreenError

DAY_S = 86_400
DAYS = 7
"""Of each trial."""
STEP_S = 900
"""Changes are told to the policy as often as this; it looks every minute."""

FILES = 5000
SIZE_SIGMA = 1.5
POPULARITY = 1.1
UPDATE_B = 8192
BUSY_HOURS, QUIET_SHARE = range(9, 19), 0.15

ASSUMED = (
    f"a working set is {FILES:,} files of log-normal sizes (sigma {SIZE_SIGMA:g}), updated by rank "
    f"to the power of -{POPULARITY:g}; an hour outside {BUSY_HOURS[0]} to {BUSY_HOURS[-1] + 1} has "
    f"{QUIET_SHARE:.0%} of the operations of one inside",
    f"an update writes {UPDATE_B // 1024} KiB to a disk that is awake, without a seek; a copy to "
    "the sleeping disk writes whole files",
    "the disk of a mount holds all at first; the server is always there, but for the days of the "
    "budget and for the trips",
    "a sleeping disk has a timer of 60 s; the server takes 90 W, as BLADE idles, for 50 clients; "
    "flash takes nothing",
)
"""What no published number says of the days, in sentences."""

BUDGET_RUNS, BUDGET_DAYS, BUDGET_EVENTS = 1000, 10, 20
"""Runs of hostile days, the days of each, and the events of a day."""
LARGEST_B = 2**33

COLUMNS = "run,at_s,what,file,size_b"


class Event(NamedTuple):
    """Something that a mount would notice; `file` and `size_b` are of a change."""

    run: str
    at_s: int
    what: str
    file: int | None = None
    size_b: int | None = None


class Woken(NamedTuple):
    """A time at which the disk was woken, and what was copied to it."""

    at_s: int
    why: str
    copied_b: int


@dataclass(frozen=True)
class Week:
    """What a client does in a generated week.

    Of the `work_ops` operations of its programs, `updates_count` change something. `changed` has
    the files that changed in each step, by its end in seconds. `sizes_b` has the bytes of each
    file.
    """

    work_ops: int
    updates_count: int
    changed: tuple[tuple[int, np.ndarray], ...]
    sizes_b: np.ndarray

    def events(self, run: str) -> Iterator[Event]:
        """Yield what a mount would notice of it."""
        for at_s, files in self.changed:
            for file in files:
                yield Event(run, at_s, "change", int(file), int(self.sizes_b[file]))
        yield Event(run, DAYS * DAY_S, "end")


def week(rate_ops_s: float, update_share: float, working_set_b: float, seed: int) -> Week:
    """Return a generated week of a client.

    Programs do `rate_ops_s` operations over all hours, of which the share `update_share` changes
    something. All files together have `working_set_b` bytes. What is left to chance follows from
    the seed.
    """
    chance = np.random.default_rng(seed)
    sizes = chance.lognormal(0.0, SIZE_SIGMA, FILES)
    sizes_b = np.ceil(sizes * working_set_b / sizes.sum()).astype(np.int64)
    popularity = np.arange(1, FILES + 1) ** -POPULARITY
    popularity = chance.permutation(popularity / popularity.sum())
    ends_s = np.arange(STEP_S, DAYS * DAY_S + 1, STEP_S)
    hours = (ends_s - STEP_S) // 3600 % 24
    weight = np.where(np.isin(hours, BUSY_HOURS), 1.0, QUIET_SHARE)
    operations = chance.poisson(rate_ops_s * STEP_S * weight / weight.mean())
    updates = chance.binomial(operations, update_share)
    drawn = chance.choice(FILES, size=int(updates.sum()), p=popularity)
    files = [np.unique(part) for part in np.split(drawn, np.cumsum(updates)[:-1])]
    changed = zip(ends_s.tolist(), files, strict=True)
    return Week(
        int(operations.sum()),
        int(updates.sum()),
        tuple((at_s, of) for at_s, of in changed if len(of)),
        sizes_b,
    )


def hostile(seed: int) -> Iterator[Event]:
    """Yield days on which everything happens at random, as often as not with the server away."""
    chance = np.random.default_rng(seed)
    for run in range(BUDGET_RUNS):
        count = BUDGET_DAYS * BUDGET_EVENTS
        times_s = np.sort(chance.integers(0, BUDGET_DAYS * DAY_S, count))
        kinds = chance.choice(
            ["change", "away", "back", "unmount"], count, p=[0.6, 0.15, 0.15, 0.1]
        )
        sizes_b = np.exp(chance.uniform(0, np.log(LARGEST_B), count)).astype(np.int64)
        for nth, (at_s, what) in enumerate(zip(times_s, kinds, strict=True)):
            change = (nth, int(sizes_b[nth])) if what == "change" else (None, None)
            yield Event(f"r{run}", int(at_s), str(what), *change)
        yield Event(f"r{run}", BUDGET_DAYS * DAY_S, "end")


def growing() -> Iterator[Event]:
    """Yield a day on which 256 MiB of new files come every quarter of an hour."""
    for nth in range(1, DAY_S // STEP_S + 1):
        # From noon on, so that the quiet hour is far.
        yield Event("growing", DAY_S // 2 + nth * STEP_S, "change", nth, 2**28)
    yield Event("growing", 2 * DAY_S, "end")


def trip(name: str, duration_s: float, network_percent: float) -> Iterator[Event]:
    """Yield a way through a building: a change in each second, the server away in the middle."""
    begin_s = DAY_S // 2
    gone_s = round(duration_s * (1 - network_percent / 100))
    away_s = begin_s + round((duration_s - gone_s) / 2)
    for nth in range(round(duration_s)):
        if gone_s and begin_s + nth == away_s:
            yield Event(name, away_s, "away")
        if gone_s and begin_s + nth == away_s + gone_s:
            yield Event(name, away_s + gone_s, "back")
        yield Event(name, begin_s + nth, "change", nth, UPDATE_B)
    yield Event(name, begin_s + round(duration_s), "end")


def woken(events: Iterable[Event]) -> dict[str, list[Woken]]:
    """Return when GreenFS would wake the disk in each run of events, by its policy.

    Raises FsgreenError if the program is not installed, is too old, or refuses: in its own words.
    """
    program = greenfs.program()
    table, runs = io.StringIO(), dict[str, None]()
    writer = csv.writer(table, lineterminator="\n")
    table.write(f"{COLUMNS}\n")
    for event in events:
        writer.writerow(event)
        runs[event.run] = None
    done = subprocess.run(
        [program, "days", "-"], input=table.getvalue(), capture_output=True, text=True, check=False
    )
    if done.returncode or not done.stdout:
        old = "unexpected" in done.stderr
        raise FsgreenError(
            "the installed greenfs knows no days: it is older than this fsgreen"
            if old
            else f"greenfs days: {done.stderr.strip()}",
            where=program,
            next_step=f"{paths.BUILD} --from-source" if old else "mend the days",
        )
    woken_by_run: dict[str, list[Woken]] = {run: [] for run in runs}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        woken_by_run[row["run"]].append(Woken(int(row["at_s"]), row["why"], int(row["copied_b"])))
    return woken_by_run


def lacking(of: Week, spins: Iterable[Woken]) -> tuple[list[float], list[float]]:
    """Return what a sleeping disk lacks over a week: times in days, and megabytes of files."""
    steps = [(at_s, files) for at_s, files in of.changed] + [(spin.at_s, None) for spin in spins]
    changed = np.zeros(len(of.sizes_b), dtype=bool)
    at_days, lacking_mb = [0.0], [0.0]
    for at_s, files in sorted(steps, key=lambda step: step[0]):
        if files is None:
            # It falls to nothing at once.
            at_days.append(at_s / DAY_S)
            lacking_mb.append(lacking_mb[-1])
            changed[:] = False
        else:
            changed[files] = True
        at_days.append(at_s / DAY_S)
        lacking_mb.append(float(of.sizes_b[changed].sum()) / 1e6)
    return at_days, lacking_mb


def most_in_a_day(spins: Iterable[Woken]) -> int:
    """Return how often a disk was woken in any 24 hours, at most."""
    times_s = [spin.at_s for spin in spins]
    return max(
        (sum(first <= at_s < first + DAY_S for at_s in times_s) for first in times_s), default=0
    )


def budget(seed: int) -> list[dict[str, int]]:
    """Return how many runs of hostile days had so many spin-ups in any 24 hours, at most."""
    runs, spins = Counter[int](), Counter[int]()
    for of_run in woken(hostile(seed)).values():
        most = most_in_a_day(of_run)
        runs[most] += 1
        spins[most] += len(of_run)
    return [
        {
            "most_in_a_day_count": most,
            "runs_count": runs[most],
            "days_count": BUDGET_DAYS * runs[most],
            "spin_ups_count": spins[most],
        }
        for most in sorted(runs)
    ]
