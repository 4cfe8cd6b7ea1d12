"""Parts of workloads found by name: those that ship, entry points, or `module:callable`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from fsgreen.errors import FsgreenError, unknown


def load(name: str, group: str, shipped: Mapping[str, Any]) -> Any:
    """Return what a name stands for.

    Parameters
    ----------
    name : str
        Of `shipped`, of an entry point, or `module:callable`.
    group : str
        Of entry points.
    shipped : mapping
        What comes with fsgreen, by name.

    Raises
    ------
    FsgreenError
        If there is no such name, or it cannot be imported.
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
