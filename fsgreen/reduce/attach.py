"""The power of a meter that recorded on its own, cut into the trials of a campaign."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
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

ZONES_S = tuple(1800.0 * half for half in range(-28, 29) if half)
"""By how much a time zone may be wrong: half an hour up to 14 hours, either way."""


def attach(
    campaign: str,
    imported: Imported,
    *,
    synchronised_s: float | None = None,
    max_drift_ppm: float = trace.MAX_DRIFT_PPM,
) -> tuple[AttachedMeter, Path]:
    """Fit the meter's clock to the campaign's load pulses (rule 17), and keep what it says.

    With `synchronised_s` the clock is not fitted: NTP or GPS kept it so near to the host's. Pulses
    that were made all the same may contradict that; `clock.edges_count` says how many edges agree.

    For each trial that the trace covers: the energy of its phase `measure`, its error budget with
    the clock's part, and what makes the trace unfit. They lie beside the trials, which stay as they
    are, and are columns of `trials.csv` once the campaign is reduced again. Returns the meter and
    the file.

    Raises FsgreenError if the campaign made no pulses, or they are not in the trace, or it covers
    no trial; if its time zone is wrong by whole half hours, which is told; if the clock is further
    off than `synchronised_s`; if a meter of the campaign has its name; or if several testbeds
    measured.
    """
    readings = power_table({imported.info.driver: imported.readings})
    if not readings["time_s"].min() > FIRST_DATE_UNIX_S:
        raise FsgreenError(
            "the times of this file are not on a known clock, so no trial can be found in them",
            where=imported.info.title,
            next_step="give their offset from GMT, as in --set gmt_offset=+01:00; if they have no "
            "date, export the file again with it",
        )
    measured = Campaign(campaign)
    trials = poolable_trials(campaign)
    if len(measured.identity().get("testbeds", ())) > 1:
        raise FsgreenError(
            "a meter watches one testbed, but several measured the blocks of this campaign at once",
            where=measured.folder,
            next_step='have each testbed measure all cells (design = "replicate" in the fleet '
            "file): it then has a campaign of its own",
        )
    fit = (
        _fitted(readings, measured.pulses(), max_drift_ppm)
        if synchronised_s is None
        else _synchronised(readings, measured, synchronised_s)
    )
    on_host = trace.to_host(readings, fit)
    name = _name_of(imported.info)
    if any(name in trial.record.meters for trial in trials):
        raise FsgreenError(
            f"the campaign already has a meter called {name}",
            where=measured.folder,
            next_step="attach a file of another meter, or see trials.csv, which has this one",
        )
    of_trials = {trial.name: _energy(name, trial, on_host, imported, fit) for trial in trials}
    energy = {trial: each for trial, each in of_trials.items() if each is not None}
    if not energy:
        for zone_s in ZONES_S:
            if any(_covers(on_host, _span(trial), zone_s) for trial in trials):
                raise WrongZoneError(zone_s)
        raise FsgreenError(
            "the trace covers no whole trial of this campaign",
            where=imported.info.title,
            next_step=f"fsgreen status {campaign}",
        )
    begun_unix_s = {
        trial.name: trial.record.clock.unix_s for trial in trials if trial.name in energy
    }
    meter = AttachedMeter(name, imported.info, fit, energy, begun_unix_s)
    return meter, meter.write(measured.folder)


def _fitted(
    readings: pd.DataFrame, patterns: list[list[float]], max_drift_ppm: float
) -> trace.ClockFit:
    """Fit the clock; where no pulses are found, look for them under other time zones."""
    try:
        return trace.fit_clock(readings, patterns, max_drift_ppm=max_drift_ppm)
    except FsgreenError:
        for zone_s in ZONES_S:
            moved = readings.assign(time_s=readings["time_s"] + zone_s)
            with suppress(FsgreenError):
                trace.fit_clock(moved, patterns, max_drift_ppm=max_drift_ppm)
                break
        else:
            raise
        raise WrongZoneError(zone_s) from None


def _synchronised(
    readings: pd.DataFrame, measured: Campaign, synchronised_s: float
) -> trace.ClockFit:
    """Return a clock as it is said to be kept; refuse one that the campaign's pulses contradict.

    Where no pulses were made, or the trace does not show them, nothing is said against it.
    """
    said = trace.synchronised(synchronised_s)
    if not measured.made_pulses:
        return said
    patterns = measured.pulses()
    try:
        fit = _fitted(readings, patterns, trace.MAX_DRIFT_PPM)
    except WrongZoneError:
        raise
    except FsgreenError:
        return said
    ends_s = np.array([edges_s[-1] for edges_s in patterns])
    off_s = float(max(fit.meter_s(ends_s) - ends_s, key=abs))
    if abs(off_s) > synchronised_s + fit.offset_error_s:
        raise FsgreenError(
            f"by the load pulses the clock is {off_s:+.3f} s off, within {fit.offset_error_s:.3f} "
            f"s, and not {synchronised_s:g} s as --synchronised says",
            where="clock of the meter",
            next_step="leave --synchronised out: the pulses tell the clock",
        )
    return replace(said, residual_s=fit.residual_s, edges_count=fit.edges_count)


class WrongZoneError(FsgreenError):
    """The times of a file are whole half hours off: `zone_s` must be added to them."""

    def __init__(self, zone_s: float) -> None:
        minutes = round(abs(zone_s) / 60)
        size = f"{minutes // 60}:{minutes % 60:02d} h"
        super().__init__(
            f"its clock was read in a wrong time zone: {size} "
            f"{'later' if zone_s > 0 else 'earlier'} its power is this campaign's",
            where="clock of the meter",
            next_step=f"give its offset from GMT anew, {size} {'less' if zone_s > 0 else 'more'} "
            "than now, as in --set gmt_offset=+01:00",
        )


def _name_of(info: trace.MeterInfo) -> str:
    """Return the meter's name, in which two meters of one kind are told apart."""
    serial = re.sub(r"[^A-Za-z0-9]+", "_", info.serial).strip("_")
    return "_".join(part for part in (info.driver, serial) if part)


def _energy(
    name: str, trial: Trial, readings: pd.DataFrame, imported: Imported, fit: trace.ClockFit
) -> MeterEnergy | None:
    """Return what the meter says of a trial; None where its trace does not cover the trial."""
    if not _covers(readings, _span(trial)):
        return None
    ahead_s = trial.record.clock.ahead_s
    measured, idles = (
        [(start_s + ahead_s, end_s + ahead_s) for start_s, end_s in spans]
        for spans in ([phase.span_s for phase in trial.measured], trial.record.idle_spans_s)
    )
    spans, info = [*measured, *idles], imported.info
    reduced = trace.MeterTrace.of(readings, info, spans, clock=fit, means=imported.means)
    return trace.meter_energy(name, info, reduced, measured, len(idles))


def _span(trial: Trial) -> tuple[float, float]:
    """Return when a trial was first and last measured, in the host's seconds since 1970."""
    measured, ahead_s = trial.measured, trial.record.clock.ahead_s
    return measured[0].start_s + ahead_s, measured[-1].end_s + ahead_s


def _covers(readings: pd.DataFrame, span: tuple[float, float], zone_s: float = 0.0) -> bool:
    time_s = readings["time_s"]
    return bool(time_s.iloc[0] + zone_s <= span[0] and span[1] <= time_s.iloc[-1] + zone_s)
