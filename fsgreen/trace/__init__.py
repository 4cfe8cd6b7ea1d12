"""Algebra on the power trace of one meter: energy, checks (rules 13, 14, 21), error, clock.

A trace is a data frame with the columns of `power.parquet` (``time_s`` on the host's monotonic
clock, ``power_w``, ``energy_wh``, ``quality``), one row per reading, of one meter only. The time of
a reading is the end of the interval that the meter averaged. Every function refuses a trace whose
columns lack a unit or have a wrong one. No function repairs a trace: flaws are returned or raised,
and the numbers are used unchanged.
"""

from fsgreen.trace.above import time_above_s
from fsgreen.trace.budget import ErrorBudget, constant_edge_share, enough_s, minimum_duration_s
from fsgreen.trace.checks import check_trace, identity_flaws
from fsgreen.trace.clock import MAX_DRIFT_PPM, ClockFit, fit_clock, synchronised, to_host
from fsgreen.trace.meter import Boundary, MeterInfo
from fsgreen.trace.meterenergy import (
    MeterEnergy,
    Span,
    meter_energies,
    meter_energy,
    sum_energies,
    unknown_energy,
)
from fsgreen.trace.metertrace import MeterTrace, reduce_power
from fsgreen.trace.pulses import expected_share, pulse_edges, pulse_runs
from fsgreen.trace.table import REMARKS, Flaw

__all__ = [
    "MAX_DRIFT_PPM",
    "REMARKS",
    "Boundary",
    "ClockFit",
    "ErrorBudget",
    "Flaw",
    "MeterEnergy",
    "MeterInfo",
    "MeterTrace",
    "Span",
    "check_trace",
    "constant_edge_share",
    "enough_s",
    "expected_share",
    "fit_clock",
    "identity_flaws",
    "meter_energies",
    "meter_energy",
    "minimum_duration_s",
    "pulse_edges",
    "pulse_runs",
    "reduce_power",
    "sum_energies",
    "synchronised",
    "time_above_s",
    "to_host",
    "unknown_energy",
]
