"""How well a meter measures, where it does not say so itself and somebody has found out."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fsgreen.meters.core.settings import Above0, From0, GainError, Settings


class Accuracy(Settings):
    """Limits of error, and their source; all but `volts` are required."""

    gain_error: GainError
    constant_error_w: From0
    source: Annotated[str, Field(min_length=1)]
    """Where the two errors are from: a data sheet, or how they were found."""
    volts: Above0 | None = None
    """The nominal voltage of the rails, which turns a step of current into one of power."""
