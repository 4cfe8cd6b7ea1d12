"""Power from a counter of energy: a wrap is undone, and what cannot be known is not guessed."""

from __future__ import annotations

from fsgreen.meters.core.readings import NAN

SLACK_S = 0.01
"""By how much the host's times of two answers may be off; ten updates of a RAPL counter."""


class EnergyCounter:
    """One counter in microjoules; `total_uj` is what it has counted since the first answer.

    Parameters
    ----------
    range_w : float
        More than this the counted part can never draw. It tells a wrap from a reset.
    wrap_uj : int, optional
        The highest count, after which the counter starts again at 0. None: it never wraps.
    """

    def __init__(self, range_w: float, wrap_uj: int | None = None) -> None:
        self._range_w = range_w
        self._wrap_uj = wrap_uj
        self._last: tuple[float, int] | None = None
        self.total_uj = 0

    def advance(self, time_s: float, count_uj: int) -> tuple[float, str] | None:
        """Return the mean power since the answer before, in watts, and a flag.

        None at the first answer. The flag is ok or wrapped; or power is NaN, and the flag says
        why: lost (the span may hold more than one wrap), reset (the counter went back, and by
        more than a wrap explains), over-range (it grew faster than the part can draw),
        out-of-order.
        """
        last, self._last = self._last, (time_s, count_uj)
        if last is None:
            return None
        span_s, grown_uj = time_s - last[0], count_uj - last[1]
        if not span_s > 0:
            return NAN, "out-of-order"
        if self._wrap_uj is not None and self._range_w * span_s * 1e6 >= self._wrap_uj:
            return NAN, "lost"
        flag = "ok"
        if grown_uj < 0:
            if self._wrap_uj is None:
                return NAN, "reset"
            grown_uj, flag = grown_uj + self._wrap_uj, "wrapped"
        if not 0 <= grown_uj <= self._range_w * (span_s + SLACK_S) * 1e6:
            return NAN, "over-range" if flag == "ok" else "reset"
        self.total_uj += grown_uj
        return grown_uj / span_s / 1e6, flag
