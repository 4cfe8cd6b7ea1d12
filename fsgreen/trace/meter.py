"""The description of a meter: facts that hold for all of its readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fsgreen.errors import FsgreenError

Boundary = Literal["wall", "dc-rail", "cpu", "modelled"]

UNTOLD = ("", "?")
"""Stands for a model or a serial number that is not known."""


@dataclass(frozen=True)
class MeterInfo:
    """What a meter is, and how well it measures."""

    driver: str
    model: str
    serial: str
    """The name of its driver, its model and its serial number."""
    boundary: Boundary
    """What its power includes."""
    covers: tuple[str, ...]
    """The parts whose power is included."""
    rate_hz: float
    range_w: float
    resolution_w: float
    """Readings per second, the largest valid power, and one step of power."""
    gain_error: float
    """The error as a fraction of the value."""
    constant_error_w: float
    """The error of every reading as an offset."""
    source: str
    """The source of the errors."""
    constant_error_j: float = 0.0
    """A fixed error of each energy, for any duration (fast10 states 0.3 Wh for its meters, section
    3.1)."""
    power_cycles: int | None = None
    """The meter's own counter of power losses when it was opened."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What else its parser must know, as JSON values."""

    @property
    def title(self) -> str:
        """Return model and serial number in words, even if they are not known."""
        model = f"a meter that {self.driver} cannot name" if self.model in UNTOLD else self.model
        return f"{model}, serial {'not told' if self.serial in UNTOLD else self.serial}"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MeterInfo:
        """Make a description from its fields in JSON. Raises FsgreenError if they do not fit."""
        try:
            return cls(**{**values, "covers": tuple(values["covers"])})
        except (KeyError, TypeError) as error:
            raise FsgreenError(
                f"the description of a meter is not one of ours: {error}",
                where="meters",
                next_step="move it away; fsgreen unpack CAMPAIGN brings back what was packed",
            ) from error
