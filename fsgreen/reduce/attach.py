"""The power of a meter that recorded on its own, cut into the trials of a campaign."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import trace
from fsgreen.campaign import Campaign
from fsgreen.design import Cell, Plan
from fsgreen.errors import FsgreenError
from fsgreen.meters import Imported, power_table
from fsgreen.reduce.pool import poolable_trials, read_plan
from fsgreen.reduce.tables import write_table
from fsgreen.trial import Trial

FIRST_DATE_UNIX_S = 1e9
"""Clocks that show less count from their first reading, and no date can be told from them."""

ENERGIES = ("duration_s", "energy_j", "counter_energy_j", "power_w")
ERRORS = {f"error_{field.name}": field.name for field in fields(trace.ErrorBudget)}


def attach(campaign: str, imported: Imported) -> tuple[trace.ClockFit, Path]:
    """Fit the meter's clock to the campaign's load pulses (rule 17), and write a row per trial.

    The table `power-DRIVER-SERIAL.csv` has the energy of each trial's phase `measure`, by trapezoid
    and by the meter's counter, its error budget with the clock's part, and what makes the trace
    unfit. A number that the trace does not tell is NaN. Returns the fit and the file.
    The trials themselves stay as they are.

    Raises
    ------
    FsgreenError
        If the campaign made no pulses, or they are not in the trace, or it covers no trial.
    """
    readings = power_table({imported.info.driver: imported.readings})
    if not readings["time_s"].min() > FIRST_DATE_UNIX_S:
        raise FsgreenError(
            "the times of this file are not on a known clock, so no campaign can be found in them",
            where=imported.info.model,
            next_step="give their offset from GMT, as in --set gmt_offset=+01:00; if they have no "
            "date, export the file again with it",
        )
    fit = trace.fit_clock(readings, Campaign(campaign).pulses())
    on_host, plan = trace.to_host(readings, fit), read_plan(campaign)
    rows = [
        row
        for trial in poolable_trials(campaign)
        if (row := _row(trial, plan, on_host, imported.info, fit)) is not None
    ]
    if not rows:
        raise FsgreenError(
            "the trace covers no whole trial of this campaign",
            where=imported.info.model,
            next_step=f"fsgreen status {campaign}",
        )
    return fit, write_table(pd.DataFrame(rows), campaign, _table_of(imported.info))


def _table_of(info: trace.MeterInfo) -> str:
    """Return the table's name, in which two meters of one kind are told apart."""
    serial = re.sub(r"[^A-Za-z0-9]+", "-", info.serial).strip("-")
    return "-".join(part for part in ("power", info.driver, serial) if part)


def _row(
    trial: Trial, plan: Plan, readings: pd.DataFrame, info: trace.MeterInfo, fit: trace.ClockFit
) -> dict[str, Any] | None:
    measure, clock = trial.phase("measure"), trial.record["clock"]
    ahead_s = clock["unix_s"] - clock["monotonic_s"]
    span = (measure.start_s + ahead_s, measure.end_s + ahead_s)
    if not (readings["time_s"].iloc[0] <= span[0] and span[1] <= readings["time_s"].iloc[-1]):
        return None
    reduced = trace.MeterTrace.of(readings, info, [span], clock=fit)
    energy = trace.meter_energy(info.driver, info, reduced, span)
    return {
        "trial": trial.name,
        **plan.levels(Cell(**trial.record["cell"])),
        "boundary": energy.boundary,
        **{name: getattr(energy, name) for name in ENERGIES},
        **{name: getattr(energy.budget, part) for name, part in ERRORS.items()},
        "flaws": "; ".join(flaw.detail for flaw in energy.flaws),
    }
