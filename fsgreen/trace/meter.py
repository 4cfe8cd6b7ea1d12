"""What a meter is: the facts that belong to each of its readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fsgreen.errors import FsgreenError

Boundary = Literal["wall", "dc-rail", "cpu", "modelled"]

UNTOLD = ("", "?")
"""Model or serial number of a meter that nobody tells."""


@dataclass(frozen=True)
class MeterInfo:
    """What a meter is and how well it measures.

    `gain_error` is a fraction of the value; `constant_error_w` an offset of every reading;
    `constant_error_j` a fixed error of each energy, whatever its duration (the 0.3 Wh that fast10
    states for its meters, section 3.1); `covers` the parts whose power is included;
    `power_cycles` the meter's own counter of power losses when it was opened, if it has one;
    `options` what else its parser must know (numbers, texts, truths and lists of them, as JSON
    keeps them).
    """

    driver: str
    model: str
    serial: str
    boundary: Boundary
    covers: tuple[str, ...]
    rate_hz: float
    range_w: float
    resolution_w: float
    gain_error: float
    constant_error_w: float
    source: str
    constant_error_j: float = 0.0
    power_cycles: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Return model and serial number as people write them, also where they are not told."""
        model = f"a meter that {self.driver} cannot name" if self.model in UNTOLD else self.model
        return f"{model}, serial {'not told' if self.serial in UNTOLD else self.serial}"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MeterInfo:
        """Rebuild from its fields as JSON has them; raises FsgreenError where they do not fit."""
        try:
            return cls(**{**values, "covers": tuple(values["covers"])})
        except (KeyError, TypeError) as error:
            raise FsgreenError(
                f"the description of a meter is not one of ours: {error}",
                where="meters",
                next_step="move it away; fsgreen unpack CAMPAIGN brings back what was packed",
            ) from error
