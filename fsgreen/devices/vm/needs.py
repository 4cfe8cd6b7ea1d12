"""What a guest still needs on this machine: looked for without root, and without the network."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from fsgreen.devices.vm import boot, image, packages
from fsgreen.errors import FsgreenError

OWN_SOURCES = "the sources of this machine's apt"


def lacking() -> list[FsgreenError]:
    """Return an error for each thing that is missing.

    An image that is made needs no packages and no room. Whether a mirror answers is not asked.
    """
    checks: list[Callable[[], object]] = [image.require_architecture, boot.require, image.engines]
    if image.made_base() is None:
        checks += [image.require_space, mirror]
    found = []
    for check in checks:
        try:
            with image.refusal_explained(image.folder()):
                check()
        except FsgreenError as error:
            found.append(error)
    return found


def mirror() -> str:
    """Return where the packages of the guest are to come from: an address, or `OWN_SOURCES`.

    The class that gets them is asked, in a scratch folder, so its refusals stay its own. (A change
    of its file would make every user's image anew.)

    Raises FsgreenError if this machine has no apt, none of Debian's keys, or if no temporary files
    can be made.
    """
    try:
        with tempfile.TemporaryDirectory() as scratch:
            packages.apt(Path(scratch))
            listed = Path(scratch) / "sources.list"
            return listed.read_text().split()[2] if listed.exists() else OWN_SOURCES
    except OSError as error:
        raise FsgreenError(
            f"no temporary files can be made: {error.strerror}",
            where=error.filename,
            next_step="free some, or name another folder: TMPDIR=ELSEWHERE",
        ) from error
