"""The power of a meter that recorded on its own, cut into the trials of a campaign."""

from __future__ import annotations

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


def attach(campaign: str, imported: Imported) -> tuple[trace.ClockFit, Path]:
    """Fit the meter's clock to the campaign's load pulses (rule 17), and write a row per trial.

    The table `power-DRIVER.csv` has the energy of each trial's phase `measure`, by trapezoid and
    by the meter's counter, its error budget with the clock's part, and what makes the trace unfit.
    Returns the fit and the file. The trials themselves stay as they are.

    Raises
    ------
    FsgreenError
        If the campaign made no pulses, or they are not in the trace, or it covers no trial.
    """
    readings = power_table({imported.info.driver: imported.readings})
    if not readings["time_s"].min() > FIRST_DATE_UNIX_S:
        raise FsgreenError(
            "the times of this file have no date, so no campaign can be found in them",
            where=imported.info.model,
            next_step="export it again with the date in its time column",
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
    return fit, write_table(pd.DataFrame(rows), campaign, f"power-{imported.info.driver}")


def _row(
    trial: Trial, plan: Plan, readings: pd.DataFrame, info: trace.MeterInfo, fit: trace.ClockFit
) -> dict[str, Any] | None:
    measure, clock = trial.phase("measure"), trial.record["clock"]
    ahead_s = clock["unix_s"] - clock["monotonic_s"]
    span = (measure.start_s + ahead_s, measure.end_s + ahead_s)
    if not (readings["time_s"].iloc[0] <= span[0] and span[1] <= readings["time_s"].iloc[-1]):
        return None
    flaws = trace.check_trace(readings, *span, info.rate_hz, info=info)
    energies = trace.phase_energies(readings, [("measure", *span)]).iloc[0]
    budget = trace.error_budget(readings, *span, info, fit)
    return {
        "trial": trial.name,
        **plan.levels(Cell(**trial.record["cell"])),
        "boundary": info.boundary,
        **{name: energies[name] for name in ("duration_s", "energy_j", "counter_energy_j")},
        "power_w": energies["power_w"],
        "error_gain_j": budget.gain_j,
        "error_constant_j": budget.constant_j,
        "error_quantisation_j": budget.quantisation_j,
        "error_edges_j": budget.edges_j,
        "error_clock_j": budget.clock_j,
        "flaws": "; ".join(flaw.detail for flaw in flaws),
    }
