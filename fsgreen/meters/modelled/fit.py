"""Fits the component model to measured power: non-negative least squares on a table of spans.

The functions are pure functions of a table from `activity_table`. A term is left out, with a
sentence, if the table cannot tell it from others or nothing exercises it. A table whose power does
not follow the activity is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, special

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import Floats
from fsgreen.meters.modelled.activity import BY_NAME, TERMS, Term, amount, clock_factor, disk_states
from fsgreen.meters.modelled.profiles import MAX_EXPONENT, Components, Parameter
from fsgreen.meters.modelled.table import predict_w, prediction_errors

VIF_LIMIT = 10.0
"""Variance inflation above which a term is collinear (Kutner et al., "Applied Linear Statistical
Models", 5th edition, section 10.5)."""

LEAST_RATE_B_S = 1e7
"""Least transfer rate of a disk. A lower one was not its own rate, as it mostly sought."""

CLOCK_RANGE = 1.1
"""Least ratio of highest to lowest clock for which an exponent can be fitted."""

REST = 0.05
"""Largest share of the cores' time in which a resting machine works (rule 10)."""

SKILL = 0.5
"""Least share of the variance between unseen workloads that a model must predict."""

EXPONENTS = np.linspace(0, MAX_EXPONENT, 31)
CONFIDENCE = 0.95
NEXT = "look at the table of steps: was the right machine on the meter, and was it otherwise idle?"


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    `terms` has the fitted parameters. `errors` are 95 % half-widths of `idle_w` and of each term,
    from an ordinary least-squares fit of the terms that are not zero. They do not include the
    meter's gain error. `residual_w` is the root mean square of measured minus modelled power over
    the table. `told_apart` are the terms that the table can tell apart, whether they draw power or
    not. `remarks` are sentences on terms that are left out or may be 0.
    """

    idle_w: float
    terms: Mapping[str, float]
    errors: Mapping[str, float]
    told_apart: tuple[str, ...]
    disk_rate_b_s: float
    clock_exponent: float
    clock_base_hz: float
    residual_w: float
    residual_percent: float
    remarks: tuple[str, ...]

    def profile(self, covers: Sequence[str], source: str) -> Components:
        """Return the fit as a power profile."""
        return Components(
            covers=tuple(covers),
            idle_w=self.idle_w,
            source=source,
            terms={name: Parameter(value=value) for name, value in self.terms.items()},
            disk_rate_b_s=_finite(self.disk_rate_b_s),
            clock_exponent=self.clock_exponent,
            clock_base_hz=_finite(self.clock_base_hz),
        )


def fit(table: pd.DataFrame, *, resolution_w: float = 0.0) -> Fit:
    """Fit `Components` to a table of `activity_table`.

    `resolution_w` is the step of the meter. Power is not assumed to be known better than its
    rounding. Raises FsgreenError if the table has no sound power, fewer than three workloads, too
    few rows, or no row in which the cores rest; if power does not change; or if power does not
    follow the activity: for unseen workloads, the model is not clearly better than the mean of the
    others.
    """
    _check(table)
    result = _fit(table, resolution_w)
    _check_load(table, resolution_w)
    square = mean_square = 0.0
    for own, others in _without_each(table):
        unseen = _fit(others, resolution_w)
        if unseen.told_apart == result.told_apart:
            power_w = own["power_w"].mean()
            square += (predict_w(unseen.profile((), "all others"), own).mean() - power_w) ** 2
            mean_square += (others["power_w"].mean() - power_w) ** 2
    if square >= (1 - SKILL) * mean_square:
        raise _refusal(
            "power does not follow what the machine does: of the differences between workloads "
            f"that the model has not seen it does not predict {100 * SKILL:g} %"
        )
    return result


def leave_one_out(table: pd.DataFrame, *, resolution_w: float = 0.0) -> pd.DataFrame:
    """Predict each workload by a fit to all others; return the table of `prediction_errors`.

    Raises FsgreenError if there are fewer than two workloads, too few rows, or unsound power.
    """
    if table["workload"].nunique() < 2:
        raise _refusal("leaving one workload out needs two workloads or more")
    predicted_w = [
        predict_w(_fit(others, resolution_w).profile((), "all others"), own)
        for own, others in _without_each(table)
    ]
    measured = pd.concat([own for own, _ in _without_each(table)])
    return prediction_errors(measured, np.concatenate(predicted_w))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _without_each(table: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the rows of each workload, and those of all others."""
    for workload in dict.fromkeys(table["workload"]):
        own = table["workload"] == workload
        yield table[own], table[~own]


def _fit(table: pd.DataFrame, resolution_w: float) -> Fit:
    power_w = table["power_w"].to_numpy(float)
    if not np.isfinite(power_w).all() or (power_w <= 0).any():
        raise _refusal("the table holds power that is not a number above 0 W")
    table, rate_b_s = _split_disk(table)
    exponent, base_hz, clock_remarks = _choose_exponent(table, power_w, resolution_w)
    terms, design, remarks = _choose_terms(table, base_hz, exponent)
    if len(table) < design.shape[1] + 2:
        raise _refusal(f"{len(table)} rows are too few to fit {design.shape[1]} parameters")
    values = _solve(design, power_w)
    half_widths = _half_widths(design, power_w, values, resolution_w)
    names = ["idle_w", *(term.name for term in terms)]
    kept = [nth for nth, value in enumerate(values) if value > 0 or nth == 0]
    remarks += [
        f"{names[nth]} is left out: the fit gives it no power"
        for nth in range(1, len(names))
        if nth not in kept
    ]
    remarks += [
        f"{names[nth]} may be 0: {values[nth]:.3g}, +- {half_widths[nth]:.2g}"
        for nth in kept[1:]
        if values[nth] <= half_widths[nth]
    ]
    off_w = power_w - design @ values
    return Fit(
        idle_w=float(values[0]),
        terms={names[nth]: float(values[nth]) for nth in kept[1:]},
        errors={names[nth]: float(half_widths[nth]) for nth in kept},
        told_apart=tuple(names[1:]),
        disk_rate_b_s=rate_b_s,
        clock_exponent=exponent,
        clock_base_hz=base_hz,
        residual_w=float(np.sqrt(np.mean(off_w**2))),
        residual_percent=float(100 * np.sqrt(np.mean((off_w / power_w) ** 2))),
        remarks=tuple(clock_remarks + remarks),
    )


def _split_disk(table: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """Add the states of the disk to a table; return it, and the highest transfer rate in it."""
    busy = table["disk_busy_x"] >= BY_NAME["disk_seek_w"].least
    moved_b_s = (table["disk_read_b_s"] + table["disk_write_b_s"])[busy]
    rate_b_s = float((moved_b_s / table["disk_busy_x"][busy]).max())
    if not rate_b_s >= LEAST_RATE_B_S:
        rate_b_s = np.nan
    states = [disk_states(row, rate_b_s) for row in table.to_dict("records")]
    return table.assign(**pd.DataFrame(states, index=table.index)), rate_b_s


def _choose_terms(
    table: pd.DataFrame, base_hz: float, exponent: float
) -> tuple[list[Term], Floats, list[str]]:
    """Return the terms that the table can tell apart, the design matrix, and why others are out.

    The design matrix has the shape (rows, 1 + terms); its first column is constant.
    """
    kept: list[Term] = []
    design = np.ones((len(table), 1))
    remarks = []
    factors = [clock_factor(hz, base_hz, exponent) for hz in table["cpu_clock_hz"]]
    for term in TERMS:
        column = _column(table, term, factors)
        spread = table[term.rate].max() - table[term.rate].min()
        if not np.isfinite(column).all():
            remarks.append(f"{term.name} is left out: it was not readable throughout")
        elif spread < term.least:
            remarks.append(f"{term.name} is left out: nothing exercised it")
        elif (inflation := _inflation(design, column)) > VIF_LIMIT:
            others = ", ".join(other.name for other in kept)
            remarks.append(
                f"{term.name} is left out: it cannot be told from {others} (variance inflation "
                f"{min(inflation, 1e6):.3g}, limit {VIF_LIMIT:g}), which carry its power"
            )
        else:
            kept.append(term)
            design = np.column_stack([design, column])
    return kept, design, remarks


def _choose_exponent(
    table: pd.DataFrame, power_w: Floats, resolution_w: float
) -> tuple[float, float, list[str]]:
    """Return the exponent, the base clock, and remarks.

    The exponent is 0 unless another one improves the fit (BIC, Schwarz 1978).
    """
    clock_hz = table["cpu_clock_hz"].to_numpy(float)
    working = (table["cpu_user_x"] + table["cpu_system_x"]).to_numpy(float)
    seen_hz = clock_hz[np.isfinite(clock_hz) & (working >= BY_NAME["cpu_user_w"].least)]
    if len(seen_hz) == 0 or seen_hz.min() <= 0:
        return 0.0, np.nan, ["the cores' clock is left out: it was not readable"]
    base_hz = float(seen_hz.max())
    if base_hz < CLOCK_RANGE * seen_hz.min():
        return 0.0, base_hz, ["the cores' clock is left out: it did not vary while they worked"]

    def information(exponent: float) -> float:
        _, design, _ = _choose_terms(table, base_hz, exponent)
        off_w = power_w - design @ _solve(design, power_w)
        square = max(float(np.mean(off_w**2)), _rounding(resolution_w), np.finfo(float).tiny)
        parameters = design.shape[1] + (exponent > 0)
        return len(table) * float(np.log(square)) + parameters * float(np.log(len(table)))

    best = float(min(EXPONENTS, key=information))
    if best == 0:
        return 0.0, base_hz, ["the cores' clock is left out: power is explained as well without"]
    return best, base_hz, []


def _column(table: pd.DataFrame, term: Term, factors: Sequence[float]) -> Floats:
    rows = zip(table[term.rate], factors, strict=True)
    return np.array([amount(term, {term.rate: rate}, factor) for rate, factor in rows])


def _inflation(design: Floats, column: Floats) -> float:
    """Return the variance inflation of a column by those of the design."""
    coefficients, *_ = np.linalg.lstsq(design, column)
    unexplained = float(np.sum((column - design @ coefficients) ** 2))
    whole = float(np.sum((column - column.mean()) ** 2))
    return whole / unexplained if unexplained > 0 else np.inf


def _solve(design: Floats, power_w: Floats) -> Floats:
    """Solve by non-negative least squares, with scaled columns (Lawson and Hanson, chapter 23)."""
    scale = np.linalg.norm(design, axis=0)
    try:
        values, _ = optimize.nnls(design / scale, power_w)
    except RuntimeError as error:
        raise _refusal(f"the fit does not converge: {error}") from error
    return np.asarray(values / scale)


def _half_widths(design: Floats, power_w: Floats, values: Floats, resolution_w: float) -> Floats:
    free = values > 0
    active = design[:, free]
    degrees = len(power_w) - active.shape[1]
    square = float(np.sum((power_w - design @ values) ** 2)) / degrees
    covariance = max(square, _rounding(resolution_w)) * np.linalg.inv(active.T @ active)
    half_widths = np.zeros(len(values))
    half_widths[free] = special.stdtrit(degrees, (1 + CONFIDENCE) / 2) * np.sqrt(
        np.diag(covariance)
    )
    return half_widths


def _rounding(resolution_w: float) -> float:
    """Return the variance of a value that is rounded to steps (GUM, JCGM 100:2008, F.2.2.1)."""
    return resolution_w**2 / 12


def _check(table: pd.DataFrame) -> None:
    count = table["workload"].nunique()
    if count < 3:
        raise _refusal(f"{count} workloads are too few to fit a model: it needs three or more")
    busy = float(table["cpu_busy_x"].min())
    if busy > REST:
        raise _refusal(
            f"the cores never rested: they worked for {100 * busy:.0f} % of the time at least "
            "(rule 10), so idle power cannot be told from theirs"
        )


def _check_load(table: pd.DataFrame, resolution_w: float) -> None:
    by_workload = table.groupby("workload")["power_w"].mean()
    step_w = float(by_workload.max() - by_workload.min())
    if step_w <= resolution_w:
        raise _refusal(f"power does not change with the load: by {step_w:.3g} W in all")


def _refusal(what: str) -> FsgreenError:
    return FsgreenError(what, where="the fit of a power model", next_step=NEXT)
