"""What a study names in Python, by entry point or `module:callable`: drivers, and readers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from fsgreen.errors import FsgreenError, unknown
from fsgreen.workloads.base import Workload

GROUP = "fsgreen.workloads"
"""Entry points of workloads from other packages, each a callable as `driven` calls it."""


def load(name: str, group: str, shipped: Mapping[str, Any]) -> Any:
    """Return what a name stands for: what comes with fsgreen, an entry point, `module:callable`.

    Raises FsgreenError if there is no such name, or it cannot be imported.
    """
    if name in shipped:
        return shipped[name]
    if ":" in name:
        entry = EntryPoint(name, name, group)
    else:
        others = {found.name: found for found in entry_points(group=group)}
        if name not in others:
            raise unknown(
                f"entry of {group}",
                name,
                [*shipped, *others],
                next_step="name one of these, or a `module:callable`",
            )
        entry = others[name]
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise FsgreenError(
            f"{entry.value} cannot be imported: {error}",
            where=group,
            next_step="install its package into this environment, or mend the name",
        ) from error


def driven(
    name: str,
    driver: str,
    scale: float,
    levels: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
) -> Workload:
    """Return what a driver makes: `driver(name=..., scale=..., levels=..., **options)`.

    The driver is an entry point of `GROUP`, or `module:callable`. It gets the scale of the profile,
    the levels of the factors of workloads (None is not set), and what the study says further.

    Raises FsgreenError if it cannot be imported, takes other arguments, or makes no workload.
    """
    make = load(driver, GROUP, {})
    try:
        made = make(name=name, scale=scale, levels=levels, **(options or {}))
    except TypeError as error:
        raise FsgreenError(
            f"the driver of the workload {name} cannot be called: {error}",
            where=driver,
            next_step="it is called with name, scale, levels, and the options of the study",
        ) from error
    if not isinstance(made, Workload):
        lacking = [part for part in dir(Workload) if part[0] != "_" and not hasattr(made, part)]
        raise FsgreenError(
            f"the driver of the workload {name} makes no workload: it lacks {', '.join(lacking)}",
            where=driver,
            next_step="fsgreen.workloads.Workload lists what a workload must have",
        )
    return made
