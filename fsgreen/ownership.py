"""What root makes under sudo goes to whoever typed it: that alone, as Python itself reports it.

A hook of `sys.audit` (PEP 578) hears of each file, folder and link that this process is about to
make in the checkout or in the data folder. Nothing else there changes its owner, whoever made it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError

MADE = {
    "open": 0,
    "os.mkdir": 0,
    "sqlite3.connect": 0,
    "os.symlink": 1,
    "os.link": 1,
    "os.rename": 1,
}
"""Events of `sys.audit` after which there may be something new, and the argument that names it."""

_made: set[Path] = set()
_waiting: list[tuple[Path, str]] = []


def begin() -> None:
    """Hand back what this process makes from now on, if the owner of the checkout typed sudo.

    Each thing goes to its owner when the next one is made, and all at the end of the process.
    """
    try:
        owner = paths.root().stat().st_uid
    except FsgreenError:  # outside of any project nothing is made
        return
    if os.geteuid() == 0 and _owner() == owner:
        sys.addaudithook(_hear)
        atexit.register(_hand_back)


def _owner() -> int | None:
    """Return the number of the user who typed sudo; None where that is root, or nobody did."""
    return int(os.environ.get("SUDO_UID") or 0) or None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what is about to be made; an error here would be one of what makes it."""
    if event in MADE:
        with contextlib.suppress(OSError, ValueError, TypeError):
            _note(event, arguments)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and not arguments[2] & os.O_CREAT:
        return
    place = _place(arguments[MADE[event]])
    if not any(place.is_relative_to(folder) for folder in (paths.root(), paths.data_folder())):
        return
    if event == "os.rename":
        before = _place(arguments[0])
        made = before in _made or before.name == f".{place.name}.partial"
    else:
        made = not os.path.lexists(place)
    if made:
        _hand_back()
        _made.add(place)
        _waiting.append((place, event))


def _place(name: Any) -> Path:
    path = Path(os.fsdecode(name))
    return Path(os.path.realpath(path.parent), path.name)


def _hand_back() -> None:
    """Give away what waits for it, and what is inside of a folder that was renamed.

    Writers in C open files unheard, in folders and under names of their own until all is written.
    """
    while _waiting:
        place, event = _waiting.pop()
        within = place.rglob("*") if event == "os.rename" else ()
        for each in (place, *within):
            with contextlib.suppress(OSError):
                if (user := _owner()) is not None and each.lstat().st_uid == 0:
                    os.lchown(each, user, int(os.environ.get("SUDO_GID", -1)))
