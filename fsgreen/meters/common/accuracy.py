"""How well a meter measures, where it does not say so itself and somebody has found out."""

from __future__ import annotations

from dataclasses import dataclass

from fsgreen.meters.core.settings import Settings


@dataclass(frozen=True)
class Accuracy:
    """Limits of error, and their source.

    `volts`: the nominal voltage of the rails, which turns a step of current into one of power;
    None where it is not told.
    """

    gain_error: float
    constant_error_w: float
    source: str
    volts: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Accuracy:
        """Take `gain_error`, `constant_error_w`, `source`, all required, and `volts`."""
        numbers = {name: settings.number(name) for name in ("gain_error", "constant_error_w")}
        volts = settings.number("volts", 0.0)
        for name, value in (*numbers.items(), ("volts", volts)):
            if value < 0:
                settings.refuse(f"{name} is {value:g}, below 0")
        return cls(**numbers, source=settings.text("source"), volts=volts or None)
