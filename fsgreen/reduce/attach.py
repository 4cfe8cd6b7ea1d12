"""The power of a meter that recorded on its own, cut into the trials of a campaign."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from fsgreen import trace
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.meters import Imported, power_table
from fsgreen.reduce.pool import poolable_trials
from fsgreen.trace import MeterEnergy
from fsgreen.trial import AttachedMeter, Trial

FIRST_DATE_UNIX_S = 1e9
"""Clocks that show less count from their first reading, and no date can be told from them."""


def attach(campaign: str, imported: Imported) -> tuple[AttachedMeter, Path]:
    """Fit the meter's clock to the campaign's load pulses (rule 17), and keep what it says.

    For each trial that the trace covers: the energy of its phase `measure`, its error budget with
    the clock's part, and what makes the trace unfit. They lie beside the trials, which stay as they
    are, and are columns of `trials.csv` once the campaign is reduced again. Returns the meter and
    the file.

    Raises
    ------
    FsgreenError
        If the campaign made no pulses, or they are not in the trace, or it covers no trial; or if a
        meter of the campaign has its name.
    """
    readings = power_table({imported.info.driver: imported.readings})
    if not readings["time_s"].min() > FIRST_DATE_UNIX_S:
        raise FsgreenError(
            "the times of this file are not on a known clock, so no campaign can be found in them",
            where=imported.info.model,
            next_step="give their offset from GMT, as in --set gmt_offset=+01:00; if they have no "
            "date, export the file again with it",
        )
    held = Campaign(campaign)
    fit = trace.fit_clock(readings, held.pulses())
    on_host, trials = trace.to_host(readings, fit), poolable_trials(campaign)
    name = _name_of(imported.info)
    if any(name in trial.record.meters for trial in trials):
        raise FsgreenError(
            f"a meter of the campaign is called {name} as well",
            where=held.folder,
            next_step="attach what another meter recorded, or look at trials.csv: it has this one",
        )
    found = {trial.name: _energy(name, trial, on_host, imported.info, fit) for trial in trials}
    energy = {trial: said for trial, said in found.items() if said is not None}
    if not energy:
        raise FsgreenError(
            "the trace covers no whole trial of this campaign",
            where=imported.info.model,
            next_step=f"fsgreen status {campaign}",
        )
    meter = AttachedMeter(name, imported.info, fit, energy)
    return meter, meter.write(held.folder)


def _name_of(info: trace.MeterInfo) -> str:
    """Return the meter's name, in which two meters of one kind are told apart."""
    serial = re.sub(r"[^A-Za-z0-9]+", "_", info.serial).strip("_")
    return "_".join(part for part in (info.driver, serial) if part)


def _energy(
    name: str, trial: Trial, readings: pd.DataFrame, info: trace.MeterInfo, fit: trace.ClockFit
) -> MeterEnergy | None:
    """Return what the meter says of a trial; None where its trace does not cover the trial."""
    measure, ahead_s = trial.phase("measure"), trial.record.clock.ahead_s
    span = (measure.start_s + ahead_s, measure.end_s + ahead_s)
    if not (readings["time_s"].iloc[0] <= span[0] and span[1] <= readings["time_s"].iloc[-1]):
        return None
    idles = [(start_s + ahead_s, end_s + ahead_s) for start_s, end_s in trial.record.idle_spans_s]
    reduced = trace.MeterTrace.of(readings, info, [span, *idles], clock=fit)
    return trace.meter_energy(name, info, reduced, span, len(idles))
