"""Rule 17: a meter's clock against the host's, from load pulses that both have seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.trace.edges import located_edges
from fsgreen.trace.pattern import expected_share
from fsgreen.trace.table import Array, columns, times

MIN_CORRELATION = 0.5
"""Below this a pattern is not in the trace: it explains less than a quarter of the power's
variance."""

MAX_RIVAL = 0.8
"""A second place that fits so well, against the best, leaves open which one is right."""

MAX_DRIFT_PPM = 1000.0
"""No quartz is so bad; HOBO loggers are within 23 ppm (2 s a day)."""

LAGS_PER_CHIP = 8

LEAST_GAIN = 0.01
"""The search around the edges is narrowed until the residual falls by less than this share."""

FAR_OFF = 5.0
"""Edges so many median deviations off the line are another load's, and left out."""

EXACT_S = 1e-9
"""What arithmetic may be off."""

COVERAGE = 2.0
"""Errors are given as two standard uncertainties, about 95 % (GUM 6.2.2 and G.6.6)."""


@dataclass(frozen=True)
class ClockFit:
    """How a meter's clock runs against the host's.

    At the host's time `origin_s` the meter's clock shows `offset_s` more, and then gains
    `drift_ppm` microseconds a second. `residual_s` is the root mean square of what the pulses'
    `edges_count` edges are off this line; `offset_error_s` (anywhere between the pulses) and
    `drift_error_ppm` are what the line may be off at 95 %; `correlation` is that of the worse of
    the patterns with the power.
    """

    origin_s: float
    offset_s: float
    drift_ppm: float
    residual_s: float
    offset_error_s: float
    drift_error_ppm: float
    correlation: float
    edges_count: int

    def meter_s(self, host_s: Array) -> Array:
        """Return what the meter's clock shows at times of the host."""
        return host_s + self.offset_s + 1e-6 * self.drift_ppm * (host_s - self.origin_s)

    def host_s(self, meter_s: Array) -> Array:
        """Return the host's times of times on the meter's clock."""
        since_s = (meter_s - self.origin_s - self.offset_s) / (1 + 1e-6 * self.drift_ppm)
        return self.origin_s + since_s


def to_host(readings: pd.DataFrame, fit: ClockFit) -> pd.DataFrame:
    """Return a trace with its times on the host's clock."""
    return readings.assign(time_s=fit.host_s(times(readings)))


def fit_clock(
    readings: pd.DataFrame, patterns: Sequence[Sequence[float]], *, search_s: float = 60.0
) -> ClockFit:
    """Fit offset and drift of a meter's clock from pulses near the ends of a campaign.

    Each pattern is first looked for by correlation, at offsets up to `search_s` either way. Then
    each of its edges is located in the trace by the energy around it, and a line laid through
    them by least squares. An edge with a gap or a reading without a value near it is left out.

    Parameters
    ----------
    readings : DataFrame
        The trace, `time_s` on the meter's clock.
    patterns : sequence of sequences
        For each pattern the host's times of its edges: on, off, ... on, off.
    search_s : float
        The largest offset that is looked for.

    Raises
    ------
    FsgreenError
        With fewer than two patterns; where a pattern is not in the trace, or fits in two places
        about as well; where too few edges can be located, or the clock would run as no clock
        does; and for a trace that no energy can be taken of.
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
    lags = [_look(time_s, energy_j, host_s, search_s) for host_s in hosts_s]
    expected_s = [host_s + lag_s for host_s, (lag_s, _, _) in zip(hosts_s, lags, strict=True)]
    interval_s = float(np.median(np.diff(time_s)))
    doubt_s = max(step_s for _, step_s, _ in lags)
    correlation = min(height for _, _, height in lags)
    best: ClockFit | None = None
    while True:
        located = [
            located_edges(time_s, energy_j, host_s, where_s, doubt_s)
            for host_s, where_s in zip(hosts_s, expected_s, strict=True)
        ]
        fit = _line(located, hosts_s, correlation)
        if abs(fit.drift_ppm) > MAX_DRIFT_PPM + fit.drift_error_ppm:
            raise _refused(
                f"the clock would drift by {fit.drift_ppm:.0f} ppm",
                "look for a step of either clock between the pulses",
            )
        if best is not None and fit.residual_s >= (1 - LEAST_GAIN) * best.residual_s:
            return best
        best = fit
        expected_s = [fit.meter_s(host_s) for host_s in hosts_s]
        doubt_s = min(doubt_s, max(2 * interval_s, 5 * fit.residual_s))


def _look(
    time_s: Array, energy_j: Array, host_s: Array, search_s: float
) -> tuple[float, float, float]:
    """Return the lag at which a pattern is found, the step of the search, and the correlation."""
    chip_s = float(np.diff(host_s).min())
    step_s = chip_s / LAGS_PER_CHIP
    model = np.arange(host_s[0] - chip_s, host_s[-1] + chip_s, step_s)
    share = expected_share(host_s, model)
    first = max(-search_s, time_s[0] - model[0])
    last = min(search_s, time_s[-1] - model[-1])
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
    """Return Pearson's correlation of a template with each stretch of a series."""
    windows = np.lib.stride_tricks.sliding_window_view(values, len(share))
    centred = share - share.mean()
    spread = np.sqrt(len(share) * windows.var(axis=1) * (centred @ centred))
    steady = spread <= 1e-9 * np.abs(values).max(initial=1.0)
    return np.where(steady, 0.0, windows @ centred / np.where(steady, 1.0, spread))


def _line(
    located: Sequence[tuple[Array, Array]], hosts_s: Sequence[Array], correlation: float
) -> ClockFit:
    """Lay a line through the edges by least squares, once more without those far off."""
    host_s, meter_s = (np.concatenate(parts) for parts in zip(*located, strict=True))
    ahead_s = meter_s - host_s
    kept = np.ones(len(host_s), bool)
    for _ in range(2):
        centre_s = host_s[kept].mean()
        slope, level_s = np.polyfit(host_s[kept] - centre_s, ahead_s[kept], 1)
        off_s = ahead_s - level_s - slope * (host_s - centre_s)
        kept = np.abs(off_s) <= FAR_OFF * np.median(np.abs(off_s[kept])) + EXACT_S
    count = int(kept.sum())
    residual_s = float(np.sqrt((off_s[kept] ** 2).mean()))
    scatter_s = residual_s * np.sqrt(count / max(1, count - 2))
    slope_error = scatter_s / np.sqrt(((host_s[kept] - centre_s) ** 2).sum())
    reach_s = max(abs(edge_s - centre_s) for edges in hosts_s for edge_s in edges[[0, -1]])
    end_error_s = np.hypot(scatter_s / np.sqrt(count), slope_error * reach_s)
    origin_s = float(hosts_s[0][0])
    return ClockFit(
        origin_s=origin_s,
        offset_s=float(level_s + slope * (origin_s - centre_s)),
        drift_ppm=float(1e6 * slope),
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
