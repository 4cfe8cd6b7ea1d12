"""The JSON that fio 3 writes (`--output-format=json` or `json+`): its documents, and their faults.

`jobs` has an entry a job, or one a group with `group_reporting`. Jobs of one `groupid` run at the
same time, those of others before or after. For `read`, `write` and `trim`: `total_ios`, `io_bytes`
(and `io_kbytes` in KiB), `runtime` in ms, `iops` and `bw_bytes` (B/s) over it.
Source: github.com/axboe/fio, stat.c (add_ddir_status_json) and HOWTO.rst (--status-interval writes
one document after another, each from the start of the run). Before 3.0 (commit c12d597a) `io_bytes`
was in KiB in some versions and `bw_bytes` and `clat_ns` did not exist.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

DIRECTIONS = ("read", "write", "trim")
VERSION = re.compile(r"fio-(\d{1,3})\.(\d{1,4}).*", re.DOTALL)
START = re.compile(r"^\{", re.MULTILINE)
ROUNDING = 1e-6

MALFORMED = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What reading a document raises that fio did not write."""


def documents(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield each JSON document that begins a line, with its start and end in the text.

    Raises ValueError or RecursionError if what begins there is no JSON, or says two things of one
    name.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_constant)
    end = 0
    while start := START.search(text, end):
        found, end = decoder.raw_decode(text, start.start())
        yield found, start.start(), end


def version(said: str) -> tuple[int, int] | None:
    """Return the version of fio, major and minor, as it writes it (`fio-3.33`), or None."""
    found = VERSION.fullmatch(said)
    return None if found is None else (int(found[1]), int(found[2]))


def busy(part: Mapping[str, Any]) -> bool:
    """Return whether a direction of a job did anything."""
    return bool(part["total_ios"] != 0 or part["io_bytes"] != 0 or part["runtime"] != 0)


def counted(part: Mapping[str, Any]) -> bool:
    """Return whether the counts of a direction are whole numbers that a file can hold."""
    counts = (part[key] for key in ("total_ios", "io_bytes", "runtime"))
    return all(type(value) is int and 0 <= value < 2**63 for value in counts)


def consistent(part: Mapping[str, Any]) -> bool:
    """Return whether the numbers of a direction agree with each other."""
    if not counted(part) or not part["runtime"] > 0:
        return False
    rate = 1000 * part["total_ios"] / part["runtime"]
    return bool(
        abs(part["iops"] - rate) <= ROUNDING * (1 + rate)
        and part["bw_bytes"] == 1000 * part["io_bytes"] // part["runtime"]
        and part["io_kbytes"] == part["io_bytes"] // 1024
    )


def failures(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the jobs that met errors.

    With `continue_on_error`, `total_err` counts operations that failed and are in `total_ios` all
    the same.
    """
    return [job for job in jobs if job["error"] != 0 or job.get("total_err", 0) != 0]


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, unless it says two things of one name."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"'{key}' stands twice, with different values")
        found[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
