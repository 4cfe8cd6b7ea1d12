"""Workloads: what runs in a trial. `load_workload` gives one, `names` lists those that ship."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError, unknown
from fsgreen.workloads import driver
from fsgreen.workloads.base import Outcome, TakesTurns, Turn, Turns, Workload, WorkloadFailed
from fsgreen.workloads.command import CommandWorkload
from fsgreen.workloads.driver import GROUP
from fsgreen.workloads.together import Together
from fsgreen.workloads.wml import WmlWorkload

__all__ = [
    "GROUP",
    "Outcome",
    "TakesTurns",
    "Turn",
    "Turns",
    "Workload",
    "WorkloadFailed",
    "load_workload",
    "names",
    "offered",
    "summary",
]

_PERSONALITIES = Path(__file__).parent / "personalities"


def names() -> list[str]:
    """Return the names of the texts that ship with fsgreen."""
    return sorted(file.stem for file in _PERSONALITIES.glob("*.f"))


def offered() -> list[str]:
    """Return the names of the drivers that fsgreen or another package offers to every study."""
    return sorted(entry.name for entry in entry_points(group=GROUP))


def summary(name: str) -> str:
    """Return the first sentence of a shipped text, or of what makes a driver that is `offered`."""
    if name in offered():
        try:
            return (inspect.getdoc(driver.load(name, GROUP, {})) or "").partition("\n")[0]
        except FsgreenError as error:
            return error.what
    lines = (_PERSONALITIES / f"{name}.f").read_text(encoding="utf-8").splitlines()
    told = itertools.takewhile(lambda line: line.strip() not in ("", "#"), lines)
    return " ".join(line.removeprefix("#").strip() for line in told)


def load_workload(
    name: str,
    scale: float = 1.0,
    levels: Mapping[str, Any] | None = None,
    declared: Mapping[str, Mapping[str, Any]] | None = None,
) -> Workload:
    """Return a workload at a scale.

    `name` is one of `names()`, one that a study has `declared` (a `command` with its `reader`, a
    `driver` with its `options`, or the names of several that run `together`), an entry point of
    `driver.GROUP`, or the path of a text of your own, which ends in `.f`. `scale` is the share of
    the published size: of the number of files (their sizes stay), or, where there are always ten
    files as in `oltp`, of their size. `levels` are those of the factors of workloads, by name; None
    is not set. A text gets those that are set as variables: `readers` of `sequential-readers`, say.

    Raises FsgreenError if there is no such workload, or the scale is not above 0.
    """
    levels, declared = levels or {}, declared or {}
    if name.endswith(".f") and Path(name).is_file():
        return WmlWorkload(Path(name).stem, Path(name), scale, _set(levels))
    if name in names():
        if name in declared:
            raise FsgreenError(
                f"a workload '{name}' comes with fsgreen already",
                where=f"workloads.{name} of the study",
                next_step="give yours another name",
            )
        return WmlWorkload(name, _PERSONALITIES / f"{name}.f", scale, _set(levels))
    if name in declared:
        return _declared(name, declared, scale, levels)
    if name in offered():
        return driver.driven(name, name, scale, levels)
    raise unknown("workload", name, [*names(), *declared, *offered()], where=_PERSONALITIES)


def _declared(
    name: str, declared: Mapping[str, Mapping[str, Any]], scale: float, levels: Mapping[str, Any]
) -> Workload:
    entry = declared[name]
    if "command" in entry:
        return CommandWorkload(name, entry, scale, levels)
    if "driver" in entry:
        return driver.driven(name, entry["driver"], scale, levels, entry.get("options"))
    others = {other: entry for other, entry in declared.items() if other != name}
    return Together(
        name, [load_workload(part, scale, levels, others) for part in entry["together"]]
    )


def _set(levels: Mapping[str, Any]) -> dict[str, Any]:
    return {name: level for name, level in levels.items() if level is not None}
