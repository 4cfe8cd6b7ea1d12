"""Algebra on the power trace of one meter: energy, checks (rules 13, 14, 21), error budget.

A trace is a data frame with the columns of `power.parquet` (``time_s`` on the host's monotonic
clock, ``power_w``, ``energy_wh``, ``quality``), one row per reading, of one meter only. A reading
stands at the end of the interval that the meter averaged. Nothing here repairs a trace: a flaw is
returned or raised, and the numbers are used as they are.
"""

from fsgreen.trace.budget import (
    ErrorBudget,
    constant_edge_share,
    error_budget,
    minimum_duration_s,
)
from fsgreen.trace.checks import Flaw, check_trace, identity_flaws
from fsgreen.trace.energy import (
    counter_energy_j,
    energy_j,
    mean_power_w,
    phase_energies,
    sum_meters,
)
from fsgreen.trace.meter import Boundary, MeterInfo

__all__ = [
    "Boundary",
    "ErrorBudget",
    "Flaw",
    "MeterInfo",
    "check_trace",
    "constant_edge_share",
    "counter_energy_j",
    "energy_j",
    "error_budget",
    "identity_flaws",
    "mean_power_w",
    "minimum_duration_s",
    "phase_energies",
    "sum_meters",
]
