"""Numbers, numbers of things, and names, as people write them in a sentence or a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal


def plural(count: int | str, noun: str) -> str:
    """Return a number of things in words: `1 trial`, `2 trials`, `5 to 10 blocks`."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return names as a text: the first `most`, and the number of the others."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def digits(value: float) -> str:
    """Return a number with three digits and no power of ten: `12,300`, `1.25`; "?" for NaN."""
    if not math.isfinite(value):
        return "?"
    few = Decimal(f"{value + 0.0:.3g}")
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{few:f}"
    return text.replace("-", "\N{MINUS SIGN}")
