"""Two energies compared: which errors cancel when one meter has measured both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsgreen.trace.budget import ErrorBudget
from fsgreen.trace.checks import identity_flaws
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.table import flawed


@dataclass(frozen=True)
class MeasuredEnergy:
    """An energy, the limits of its error, and what measured it where: the name of the campaign."""

    energy_j: float
    duration_s: float
    budget: ErrorBudget
    meter: MeterInfo
    campaign: str

    @property
    def offset_j(self) -> float:
        """Limit of error by the offset of every reading."""
        return self.meter.constant_error_w * self.duration_s

    @property
    def fixed_j(self) -> float:
        """Limit of error that each energy has for itself."""
        return max(0.0, self.budget.constant_j - self.offset_j)


@dataclass(frozen=True)
class EnergyDifference:
    """`difference_j` and its limit of error, against that of two independent meters.

    `cancelled` names the terms of the budget that one meter's two energies have in common.
    """

    difference_j: float
    error_j: float
    independent_error_j: float
    cancelled: tuple[str, ...]


@dataclass(frozen=True)
class EnergyRatio:
    """`ratio_x`, one energy over the other, and its limits of error, as in `EnergyDifference`."""

    ratio_x: float
    error_x: float
    independent_error_x: float
    cancelled: tuple[str, ...]


def energy_difference(one: MeasuredEnergy, other: MeasuredEnergy) -> EnergyDifference:
    """Return `one` minus `other`, in joules.

    Of one meter in one campaign, gain errs by one unknown share of both, and the offset by one
    unknown power: what remains is their difference, nothing at equal energies or durations. What
    remains adds; rounding, edges and the fixed error of each energy are independent, and combine by
    the root of the sum of squares (GUM, JCGM 100:2008, 5.1.2 and 5.2.2). The clock errs in both by
    one fit of any sign, and adds. Raises FsgreenError where the boundaries differ (rule 19).
    """
    error_j, cancelled = _error_j(one, other, 1.0)
    return EnergyDifference(
        difference_j=one.energy_j - other.energy_j,
        error_j=error_j,
        independent_error_j=float(np.hypot(one.budget.total_j, other.budget.total_j)),
        cancelled=cancelled,
    )


def energy_ratio(one: MeasuredEnergy, other: MeasuredEnergy) -> EnergyRatio:
    """Return `one` over `other`; as `energy_difference`, to first order in the errors.

    The common gain cancels whatever the energies are. Raises FsgreenError where the boundaries
    differ (rule 19) or `other` is no positive energy.
    """
    if not other.energy_j > 0:
        raise flawed(f"a ratio to {other.energy_j:g} J means nothing")
    ratio = one.energy_j / other.energy_j
    error_j, cancelled = _error_j(one, other, ratio)
    independent_j = np.hypot(one.budget.total_j, ratio * other.budget.total_j)
    return EnergyRatio(
        ratio_x=ratio,
        error_x=error_j / other.energy_j,
        independent_error_x=float(independent_j) / other.energy_j,
        cancelled=cancelled,
    )


def _error_j(
    one: MeasuredEnergy, other: MeasuredEnergy, weight: float
) -> tuple[float, tuple[str, ...]]:
    """Limit of error of `one` minus `weight` times `other`, and what cancelled in it."""
    if one.meter.boundary != other.meter.boundary:
        raise flawed(
            f"energies of different boundaries are never compared: {one.meter.boundary}, "
            f"{other.meter.boundary}"
        )
    a, b = one.budget, other.budget
    if one.campaign != other.campaign or identity_flaws(one.meter, other.meter):
        return float(np.hypot(a.total_j, weight * b.total_j)), ()
    common_j = abs(a.gain_j - weight * b.gain_j) + abs(one.offset_j - weight * other.offset_j)
    own_j = [
        np.hypot(one.fixed_j, weight * other.fixed_j),
        np.hypot(a.quantisation_j, weight * b.quantisation_j),
        np.hypot(a.edges_j, weight * b.edges_j),
        a.clock_j + weight * b.clock_j,
    ]
    terms = {"gain": a.gain_j + b.gain_j, "constant": one.offset_j + other.offset_j}
    cancelled = tuple(name for name, size_j in terms.items() if size_j > 0)
    return float(np.linalg.norm([common_j, *own_j])), cancelled
