"""Rule 17: fits a meter's clock to the host's, from load pulses that both clocks have timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.trace.clocksteps import Located, line, set_between, suspected_step_s
from fsgreen.trace.pulses import expected_share, located_edges
from fsgreen.trace.table import Array, columns, times

MIN_CORRELATION = 0.5
"""Least correlation for a pattern to be in the trace. With less, it explains less than a quarter of
the power's variance."""

MAX_RIVAL = 0.8
"""If a second place has this share of the best correlation, it is open which one is right."""

MAX_DRIFT_PPM = 200.0
"""Largest plausible drift. No quartz is so bad; HOBO loggers are within 23 ppm (2 s a day)."""

SEARCH_S = 60.0
"""The largest offset that is searched, in either direction."""

LAGS_PER_CHIP = 8

LEAST_GAIN = 0.01
"""The search around the edges is repeated until the residual falls by less than this share."""

CUT = "cut the trace where the clock was set, or pulse in the middle of the campaign, too"

COVERAGE = 2.0
"""Coverage factor of errors: two standard uncertainties, about 95 % (GUM 6.2.2 and G.6.6)."""


@dataclass(frozen=True)
class ClockFit:
    """The fit of a meter's clock to the host's."""

    origin_s: float
    offset_s: float
    """At the host's time `origin_s`, the meter's clock is ahead by `offset_s`."""
    drift_ppm: float
    """After that, it gains this many microseconds per second."""
    residual_s: float
    """The root mean square distance of the pulses' edges from this line."""
    offset_error_s: float
    drift_error_ppm: float
    """The errors of the line at 95 %; that of the offset holds anywhere between the pulses."""
    correlation: float
    """The correlation of the worst pattern with the power."""
    edges_count: int
    """The number of edges of the fit."""

    def meter_s(self, host_s: Array) -> Array:
        """Return the times on the meter's clock at times of the host."""
        return host_s + self.offset_s + 1e-6 * self.drift_ppm * (host_s - self.origin_s)

    def host_s(self, meter_s: Array) -> Array:
        """Return the times of the host at times on the meter's clock."""
        since_s = (meter_s - self.origin_s - self.offset_s) / (1 + 1e-6 * self.drift_ppm)
        return self.origin_s + since_s


def synchronised(uncertainty_s: float) -> ClockFit:
    """Return the fit of a clock that NTP or GPS keeps within `uncertainty_s` of the host's.

    Raises FsgreenError if `uncertainty_s` is negative or not finite.
    """
    if not 0 <= uncertainty_s < float("inf"):
        raise _refused(
            f"{uncertainty_s:g} s is no uncertainty", "state it in seconds, such as 0.05"
        )
    return ClockFit(0.0, 0.0, 0.0, 0.0, uncertainty_s, 0.0, correlation=1.0, edges_count=0)


def to_host(readings: pd.DataFrame, fit: ClockFit) -> pd.DataFrame:
    """Return a trace with its times converted to the host's clock."""
    return readings.assign(time_s=fit.host_s(times(readings)))


def fit_clock(
    readings: pd.DataFrame,
    patterns: Sequence[Sequence[float]],
    *,
    max_drift_ppm: float = MAX_DRIFT_PPM,
) -> ClockFit:
    """Fit offset and drift of a meter's clock, from pulses near the ends of a campaign.

    First, each pattern is searched by correlation, at offsets up to `SEARCH_S` in either direction.
    Then each of its edges is located in the trace by the energy around it, and a line is fitted
    through the edges by least squares. An edge is left out if there is a gap near it, or a reading
    without a value. If readings are missing between two patterns, the clock may have been set
    there. Then both errors grow by the effect of such a step. Further patterns in between can rule
    this out.

    `readings` has `time_s` on the meter's clock. A pattern has the host's times of its edges: on,
    off, ... on, off. A drift larger than `max_drift_ppm` means that the clock was set. Raises
    FsgreenError if there are fewer than two patterns; if a pattern is not in the trace, or fits
    almost equally well in two places; if too few edges can be located; if the clock was set between
    two patterns; or if the trace is unordered or has no power.
    """
    if len(patterns) < 2:
        raise _refused("an offset and a drift need two patterns", "pulse at start and end")
    time_s, power_w = columns(readings, "power_w")
    known = np.isfinite(power_w)
    time_s, power_w = time_s[known], power_w[known]
    if len(time_s) < 2:
        raise _refused("the trace has no power", "look at its flags")
    hosts_s = [_rising(pattern) for pattern in patterns]
    energy_j = np.concatenate(([0.0], np.cumsum(power_w[1:] * np.diff(time_s))))
    lags = [_look(time_s, energy_j, host_s) for host_s in hosts_s]
    expected_s = [host_s + lag_s for host_s, (lag_s, _, _) in zip(hosts_s, lags, strict=True)]
    interval_s = float(np.median(np.diff(time_s)))
    doubt_s = max(step_s for _, step_s, _ in lags)
    correlation = min(height for _, _, height in lags)
    best: ClockFit | None = None
    best_located: Located = ()
    while True:
        located = [
            located_edges(time_s, energy_j, host_s, where_s, doubt_s)
            for host_s, where_s in zip(hosts_s, expected_s, strict=True)
        ]
        fit = _line(located, hosts_s, correlation)
        if abs(fit.drift_ppm) > max_drift_ppm + fit.drift_error_ppm:
            raise _refused(
                f"the clock would drift by {fit.drift_ppm:.0f} ppm: it was set between the pulses",
                f"{CUT}, or allow such a drift: --max-drift-ppm {abs(fit.drift_ppm):.0f}",
            )
        if best is not None and fit.residual_s >= (1 - LEAST_GAIN) * best.residual_s:
            return _unless_set(best, time_s, best_located)
        best, best_located = fit, located
        expected_s = [fit.meter_s(host_s) for host_s in hosts_s]
        doubt_s = min(doubt_s, max(2 * interval_s, 5 * fit.residual_s))


def _look(time_s: Array, energy_j: Array, host_s: Array) -> tuple[float, float, float]:
    """Return the lag at which a pattern is found, the step of the search, and the correlation.

    The lag and the step are in seconds. Raises FsgreenError as `fit_clock` does.
    """
    chip_s = float(np.diff(host_s).min())
    step_s = chip_s / LAGS_PER_CHIP
    model = np.arange(host_s[0] - chip_s, host_s[-1] + chip_s, step_s)
    share = expected_share(host_s, model)
    first = max(-SEARCH_S, time_s[0] - model[0])
    last = min(SEARCH_S, time_s[-1] - model[-1])
    if last < first:
        raise _refused(
            f"the trace begins after or ends before the pulses at {host_s[0]:.6g} s, with a chip "
            "on either side",
            "import the readings of the whole campaign, or give the clocks' rough difference",
        )
    lags_count = 1 + int((last - first) / step_s)
    grid = model[0] + first + step_s * np.arange(len(model) + lags_count - 1)
    mean_w = np.diff(np.interp(grid, time_s, energy_j)) / step_s
    correlation = _correlation(mean_w, share)
    lags_s = first + step_s * np.arange(lags_count)
    best = int(np.argmax(correlation))
    is_rival = np.abs(lags_s - lags_s[best]) > 1.5 * chip_s
    rival = float(correlation[is_rival].max(initial=0.0))
    if correlation[best] < MIN_CORRELATION:
        raise _refused(
            f"no pulses in the trace: the best correlation is {correlation[best]:.2f}",
            "pulse for longer, on a machine that is otherwise idle",
        )
    if rival > MAX_RIVAL * correlation[best]:
        other_s = lags_s[is_rival][int(np.argmax(correlation[is_rival]))]
        raise _refused(
            f"the pulses fit at {lags_s[best]:+.4g} s ({correlation[best]:.2f}) and at "
            f"{other_s:+.4g} s ({rival:.2f}) about as well",
            "search less far, or pulse with another seed",
        )
    return float(lags_s[best]), step_s, float(correlation[best])


def _correlation(values: Array, share: Array) -> Array:
    """Return Pearson's correlation of a template with each window of a series.

    `values` and `share` have the shapes (n,) and (m,); the result has the shape (n - m + 1,).
    """
    windows = np.lib.stride_tricks.sliding_window_view(values, len(share))
    centred = share - share.mean()
    spread = np.sqrt(len(share) * windows.var(axis=1) * (centred @ centred))
    steady = spread <= 1e-9 * np.abs(values).max(initial=1.0)
    return np.where(steady, 0.0, windows @ centred / np.where(steady, 1.0, spread))


def _unless_set(fit: ClockFit, time_s: Array, located: Located) -> ClockFit:
    """Return a fit whose errors include the doubt from patterns and gaps.

    Raises FsgreenError if the clock was set between two patterns.
    """
    off_s = [float(np.median(meter_s - fit.meter_s(host_s))) for host_s, meter_s in located]
    if (why := set_between(located, fit.drift_ppm, off_s)) is not None:
        raise _refused(f"the clock was set between the pulses: {why}", CUT)
    doubt_s = suspected_step_s(time_s, located)
    length_s = located[-1][0][-1] - located[0][0][0]
    return replace(
        fit,
        offset_error_s=fit.offset_error_s + max(map(abs, off_s)) * (len(located) > 2) + doubt_s,
        drift_error_ppm=fit.drift_error_ppm + 1e6 * doubt_s / length_s,
    )


def _line(located: Located, hosts_s: Sequence[Array], correlation: float) -> ClockFit:
    """Fit a line through the edges of all patterns."""
    host_s, meter_s = (np.concatenate(parts) for parts in zip(*located, strict=True))
    ahead_s = meter_s - host_s
    centre_s, level_s, slope, kept = line(host_s, ahead_s)
    off_s = ahead_s - level_s - slope * (host_s - centre_s)
    count = int(kept.sum())
    residual_s = float(np.sqrt((off_s[kept] ** 2).mean()))
    scatter_s = residual_s * np.sqrt(count / max(1, count - 2))
    slope_error = scatter_s / np.sqrt(((host_s[kept] - centre_s) ** 2).sum())
    reach_s = max(abs(edge_s - centre_s) for edges in hosts_s for edge_s in edges[[0, -1]])
    end_error_s = np.hypot(scatter_s / np.sqrt(count), slope_error * reach_s)
    origin_s = float(hosts_s[0][0])
    return ClockFit(
        origin_s=origin_s,
        offset_s=level_s + slope * (origin_s - centre_s),
        drift_ppm=1e6 * slope,
        residual_s=residual_s,
        offset_error_s=float(COVERAGE * end_error_s),
        drift_error_ppm=float(1e6 * COVERAGE * slope_error),
        correlation=correlation,
        edges_count=count,
    )


def _rising(pattern: Sequence[float]) -> Array:
    edges_s = np.asarray(pattern, float)
    if len(edges_s) < 2 or len(edges_s) % 2 or not (np.diff(edges_s) > 0).all():
        raise _refused("the edges of a pattern are not pairs of rising times", "see pulse_edges")
    return edges_s


def _refused(what: str, next_step: str) -> FsgreenError:
    return FsgreenError(what, where="clock of the meter", next_step=next_step)
