"""What a column of somebody else's table means, or a part of its path: stated, never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from fsgreen.design import factors
from fsgreen.errors import FsgreenError, unknown

ASIDE = "aside"
"""The meaning of a column that is kept as it is, beside the table."""

UNITS: Mapping[str, tuple[str, float]] = {
    "duration_s": ("duration_s", 1.0),
    "duration_ms": ("duration_s", 1e-3),
    "work_ops": ("work_ops", 1.0),
    "throughput_ops_s": ("throughput_ops_s", 1.0),
    "bandwidth_b_s": ("bandwidth_b_s", 1.0),
    "bandwidth_mb_s": ("bandwidth_b_s", 1e6),
    "bandwidth_mib_s": ("bandwidth_b_s", 2.0**20),
    "energy_j": ("energy_j", 1.0),
    "energy_uj": ("energy_j", 1e-6),
    "energy_wh": ("energy_j", 3600.0),
    "energy_kwh": ("energy_j", 3.6e6),
    "power_w": ("power_w", 1.0),
    "power_mw": ("power_w", 1e-3),
    **{
        f"latency_{quantile}_{unit}": (f"latency_{quantile}_s", factor)
        for quantile in ("p50", "p95", "p99")
        for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
    },
}
"""What `--map` takes for a quantity, and the column and factor that it stands for."""

LEVELS = (*(known.name for known in factors.BUILT_IN), "block")
MEANINGS = (*LEVELS, *UNITS, ASIDE)

READINGS: Mapping[str, tuple[str, ...]] = {
    "energy": ("energy_j", "energy_kwh"),
    "joule": ("energy_j", "energy_uj"),
    "power": ("power_w", "power_mw"),
    "watt": ("power_w", "power_mw"),
    "time": ("duration_s", "duration_ms"),
    "runtime": ("duration_s", "duration_ms"),
    "duration": ("duration_s", "duration_ms"),
    "elapsed": ("duration_s", "duration_ms"),
    "second": ("duration_s", "duration_ms"),
    "throughput": ("throughput_ops_s", "bandwidth_mb_s"),
    "iops": ("throughput_ops_s", "work_ops"),
    "bandwidth": ("bandwidth_mb_s", "bandwidth_mib_s"),
    "bw": ("bandwidth_mb_s", "bandwidth_mib_s"),
    "mb": ("bandwidth_mb_s", "bandwidth_mib_s"),
    "latency": ("latency_p50_ms", "latency_p95_ms"),
}
"""Words of names that look like a quantity, and readings that each allows."""

SECONDS = ("s", "sec", "second")
TIMES = ("time", "runtime", "duration", "elapsed", "latency")
"""Before `/s` these say their unit: `time/s` is no rate."""

ENERGIES = ("w", "watt", "j", "joule", "wh", "kwh")
NO_WORK = ("energy", "power", "r")
"""Before `/J` or `/W` these are no work: `energy/J` says its unit, `r/w` is reading and writing."""

OF_RATES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("mb", "mbyte", "megabyte", "bandwidth", "bw"), READINGS["bandwidth"]),
    **dict.fromkeys(("mib", "mebibyte"), ("bandwidth_mib_s",)),
    **dict.fromkeys(("b", "byte"), ("bandwidth_b_s",)),
    **dict.fromkeys(("kb", "kib", "kbyte", "kilobyte", "gb", "gib", "gbyte", "gigabyte"), ()),
    **dict.fromkeys(("bit", "kbit", "kilobit", "mbit", "megabit", "gbit", "gigabit"), ()),
    **dict.fromkeys(("thousand", "million", "billion"), ()),
    **dict.fromkeys(("energy", "joule"), READINGS["power"]),
}
"""Words of rates that count no single operations, and readings that each allows."""

NUMBER = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,2})?")
"""A double below 0.001 is written with up to 20 decimals before an exponent is."""

FIELD = re.compile(r"\{([^{}]*)\}|(\*)")


class Meanings:
    """What the user says that columns mean (`--map column=meaning`); each is used or refused."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        for meaning in declared.values():
            if meaning not in MEANINGS:
                raise unknown("meaning", meaning, MEANINGS, next_step="see docs/imports.md")
        self._declared = dict(declared)
        self._used: set[str] = set()

    def of(self, column: str, *, own: Mapping[str, str] | None = None) -> str:
        """Return the meaning of a column: as declared, by its own name, or `aside`.

        `own` has names whose meaning the format's documentation fixes. Raises FsgreenError if the
        name looks like a quantity and does not say in which unit.
        """
        if column in self._declared:
            self._used.add(column)
            return self._declared[column]
        if own and column in own:
            return own[column]
        if column in MEANINGS:
            return column
        if readings := _readings(column):
            raise FsgreenError(
                f"'{column}' can be read as {' or as '.join(readings)}, among others",
                next_step=" or ".join(f"--map '{column}={r}'" for r in (*readings, ASIDE)),
            )
        return ASIDE

    def finish(self) -> None:
        """Refuse what was declared of columns that no file has."""
        if left := sorted(self._declared.keys() - self._used):
            raise FsgreenError(
                f"no file has a column {', '.join(map(repr, left))}",
                next_step="write --map with the name as it stands in the file",
            )


def _readings(column: str) -> tuple[str, ...]:
    """Return what a name that states no meaning can be read as; () for a name of none."""
    words = re.findall(r"[a-z]+|/", column.lower())
    words = ["per" if word == "/" else word.rstrip("s") or word for word in words]
    for nth in [nth for nth, word in enumerate(words[:-1]) if word == "per"]:
        before, unit, after = words[nth - 1] if nth else "", words[nth + 1], words[nth + 2 :]
        if unit in ENERGIES and before not in NO_WORK:
            return ()
        if unit in SECONDS and before not in TIMES:
            if after[:1] == ["per"]:
                return ()
            allowed = (OF_RATES[word] for word in words if word in OF_RATES)
            return next(allowed, ("throughput_ops_s",))
    fitting = (readings for word, readings in READINGS.items() if word.rstrip("s") in words)
    return next(fitting, ())


def meanings_of(texts: list[str]) -> Meanings:
    """Return the meanings of texts such as `fs=file_system`.

    Raises FsgreenError for a text without `=`, an unknown meaning, or a column named twice.
    """
    declared: dict[str, str] = {}
    for text in texts:
        column, equals, meaning = text.rpartition("=")
        if not (equals and column.strip()) or column in declared:
            raise FsgreenError(
                f"'{text}' is no new meaning of a column", next_step="write it as --map fs=option"
            )
        declared[column] = meaning.strip()
    return Meanings(declared)


def number(text: str, what: str, where: object) -> float:
    """Return a number as a file has it; NaN for an empty text.

    Raises FsgreenError for anything else.
    """
    if not text.strip():
        return math.nan
    if not NUMBER.fullmatch(text.strip()):
        raise FsgreenError(
            f"{what} is {text[:40]!r}, which is no number",
            where=where,
            next_step="mend the file, or keep the column aside: --map NAME=aside",
        )
    return float(text)


def path_pattern(text: str) -> re.Pattern[str]:
    """Return what matches the end of a file's path; `*` is any part of a name.

    Raises FsgreenError for a field that is no factor, or that stands twice.
    """
    parts, end, seen = [], 0, set()
    for part in FIELD.finditer(text):
        parts.append(re.escape(text[end : part.start()]))
        end = part.end()
        name = part[1]
        if part[2]:
            parts.append("[^/]*?")
            continue
        if name not in LEVELS:
            raise unknown(
                "factor in --path", name, LEVELS, next_step="--path '{file_system}/{option}-*.json'"
            )
        if name in seen:
            raise FsgreenError(f"{{{name}}} stands twice in --path", next_step="name it once")
        seen.add(name)
        parts.append(f"(?P<{name}>[^/]+?)")
    parts.append(re.escape(text[end:]))
    return re.compile("(?:^|.*/)" + "".join(parts))


def levels_of(path: str, pattern: re.Pattern[str] | None) -> dict[str, str]:
    """Return the levels that a path names; raises FsgreenError where it does not fit."""
    if pattern is None:
        return {}
    match = pattern.fullmatch(path)
    if match is None:
        raise FsgreenError(
            "the path does not fit --path",
            where=path,
            next_step="for example --path '{file_system}/{option}-*.json'",
        )
    return match.groupdict()
