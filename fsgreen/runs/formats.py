"""The formats of runs that can be read, and what each reader gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fsgreen.meters.files.text import Report
from fsgreen.runs.meanings import Meanings


@dataclass(frozen=True)
class Run:
    """One run: what it is called in its file, its columns of `trials.csv`, and what else it says.

    `values` are in the units of their names; `aside` are texts of columns without a known meaning.
    `variant` is what else the file says of the workload, by its names there.
    """

    name: str
    values: Mapping[str, Any]
    aside: Mapping[str, str] = field(default_factory=dict)
    variant: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A format of files with runs.

    `recognises` gets the beginning of a file and never raises; `read` raises FsgreenError on
    anything that it cannot trust.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[bytes, Meanings, Report], list[Run]]
