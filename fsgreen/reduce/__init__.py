"""From raw trial folders to tables: a row per trial, second, kind of operation, and reader."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import executors, paths
from fsgreen.design.begun import in_guest, read_identity, read_plan, simulated_disk_of
from fsgreen.design.columns import CPU_SHARES
from fsgreen.progress import progress
from fsgreen.reduce.imported import altered_files, is_imported, read_study, write_imported
from fsgreen.reduce.latency import latency_table
from fsgreen.reduce.latency_profiles import log2_profile, trial_profiles
from fsgreen.reduce.parts import reduced
from fsgreen.reduce.pool import (
    due_trials,
    measured,
    poolable_trials,
    rests_on,
    simulated,
    simulated_disk,
)
from fsgreen.reduce.rows import Traces, trial_row
from fsgreen.reduce.tables import (
    at,
    blocks_by_clock,
    cell_label,
    factors_of,
    level_label,
    of_this_version,
    read_csv,
    read_table,
    write_csv,
    write_table,
)
from fsgreen.trace import MeterEnergy, unknown_energy
from fsgreen.trial import AttachedMeter, Trial, attached_meters, list_discarded, sha256_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "altered_files",
    "at",
    "blocks_by_clock",
    "cell_label",
    "discarded_trials",
    "due_trials",
    "factors_of",
    "in_guest",
    "is_imported",
    "level_label",
    "log2_profile",
    "measured",
    "of_this_version",
    "read_csv",
    "read_identity",
    "read_plan",
    "read_study",
    "read_table",
    "rests_on",
    "simulated",
    "simulated_disk",
    "simulated_disk_of",
    "trial_profiles",
    "write",
    "write_csv",
    "write_table",
]


def write(campaign: str) -> Path:
    """Reduce a campaign to its tables; return their folder.

    These are `trials.csv`, `series.csv`, `latency.csv`, `finishes.csv` and `power_over_time.csv`,
    and `raw.sha256`: the bytes that they, and all that is made later, rest on, for `sha256sum
    --check`.

    Every raw file is compared with the hash in its record first (rule 22), and trials are pooled
    only where plan, boundary and machine agree (rules 1, 9, 19).

    Raises FsgreenError if the campaign has no whole trial, or holds one that is damaged or foreign.
    """
    if is_imported(campaign):
        write_imported(campaign)
    else:
        _write_measured(campaign)
    folder = paths.raw(campaign)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    lines = [f"{sha256_of(file)}  {file.relative_to(folder)}\n" for file in files]
    (paths.results(campaign) / "raw.sha256").write_text("".join(lines), encoding="utf-8")
    return paths.results(campaign)


def _write_measured(campaign: str) -> None:
    import pandas as pd

    trials = poolable_trials(campaign)
    attached = attached_meters(paths.raw(campaign))
    plan = replace(read_plan(campaign), trials=())  # whoever reduces one trial needs no others
    given = [(trial, _attached_energies(attached, trial)) for trial in trials]
    done = executors.each(reduced, plan, given)
    parts = list(progress(done, what="reducing", unit="trial", total=len(given)))
    rows = _table_of([part.row for part in parts], campaign)
    # From the first trial on, as tables have seven digits.
    rows["started_s"] -= rows["started_s"].min()
    write_table(rows, campaign, "trials")
    write_table(pd.concat([part.series for part in parts]), campaign, "series")
    write_table(latency_table((part.cell, part.latency) for part in parts), campaign, "latency")
    for name in ("finishes", "power_over_time"):
        write_table(pd.concat([getattr(part, name) for part in parts]), campaign, name)


def discarded_trials(campaign: str) -> pd.DataFrame:
    """Return rows as in `trials.csv` of the trials that somebody set aside (rule 48).

    Those that broke a rule are left out: they would not have counted. Energy of a meter that was
    attached later, and does not cover a trial, is NaN.

    Raises FsgreenError if a file of one is not the one recorded.
    """
    plan = read_plan(campaign)
    trials = [each for each in list_discarded(paths.raw(campaign)) if each.record.exit == "ok"]
    for trial in trials:
        trial.verify()
    attached = attached_meters(paths.raw(campaign))
    rows = []
    for trial in trials:
        length_s = trial.record.measured_s
        energy = {each.name: unknown_energy(each.name, each.info, length_s) for each in attached}
        energy |= _attached_energies(attached, trial)
        rows.append(trial_row(Traces.of(trial, plan, energy)))
    return _table_of(rows, campaign)


def _table_of(rows: Sequence[Mapping[str, Any]], campaign: str) -> pd.DataFrame:
    """Return the table of trials with these rows.

    Shares of processor time are NaN for trials in a guest: the counters are those of the machine
    below it, whose processors do other work and wait for other things.
    """
    import pandas as pd

    table = pd.DataFrame(rows)
    if in_guest(read_identity(campaign)):
        table[[*CPU_SHARES]] = math.nan
    return table


def _attached_energies(attached: Sequence[AttachedMeter], trial: Trial) -> dict[str, MeterEnergy]:
    """Return what meters that recorded on their own say of a trial."""
    begun_unix_s = trial.record.clock.unix_s
    energies = ((meter.name, meter.of(trial.name, begun_unix_s)) for meter in attached)
    return {name: energy for name, energy in energies if energy is not None}
