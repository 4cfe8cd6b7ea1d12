"""Workloads in Python: a callable that a study or an entry point names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.workloads.base import Workload
from fsgreen.workloads.named import load

GROUP = "fsgreen.workloads"
"""Entry points of workloads from other packages, each a callable as `driven` calls it."""


def driven(
    name: str,
    driver: str,
    scale: float,
    levels: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
) -> Workload:
    """Return what a driver makes: `driver(name=..., scale=..., levels=..., **options)`.

    Parameters
    ----------
    name : str
        What the workload is called.
    driver : str
        An entry point of `GROUP`, or `module:callable`.
    scale : float
        The profile's.
    levels : mapping
        Of the factors of workloads, by name; None is not set.
    options : mapping, optional
        What the study says further.

    Raises
    ------
    FsgreenError
        If it cannot be imported, takes other arguments, or makes no workload.
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
            next_step="fsgreen.workloads.Workload says what it has",
        )
    return made
