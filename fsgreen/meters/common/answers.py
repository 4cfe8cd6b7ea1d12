"""Answers of polled meters, read without an exception whatever they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from fsgreen.meters.core.readings import NAN

_WHOLE = re.compile(r"-?[0-9]{1,18}")


def json_object(data: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object that an answer holds, None where it holds none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def whole(value: Any) -> int | None:
    """Return the whole number that a text holds, None where it holds something else."""
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if _WHOLE.fullmatch(text) else None


def number(value: Any) -> float:
    """Return a number of a JSON document, NaN where the value is none or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return NAN
    return float(value) if abs(value) < 1e300 else NAN


def quality(flags: Iterable[str]) -> str:
    """Return flags as a reading has them: each once, by `|`; "ok" where there is none."""
    return "|".join(dict.fromkeys(flags)) or "ok"
