"""Disks in virtual time: the simulator that comes with the engine."""

from __future__ import annotations

from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.simdisk.control import BUILD


def engine() -> Any:
    """Return the module `fsgreen_engine`, which has the simulator.

    Raises
    ------
    FsgreenError
        If it is not installed, or older than this library.
    """
    try:
        import fsgreen_engine
    except ImportError as error:
        raise FsgreenError(
            "the simulator comes with the engine, which is not installed", next_step=BUILD
        ) from error
    if not hasattr(fsgreen_engine, "decisions"):
        raise FsgreenError("the engine is older than this fsgreen", next_step=BUILD)
    return fsgreen_engine
