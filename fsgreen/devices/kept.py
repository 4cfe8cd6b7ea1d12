"""The settings of a disk, or of the processors, as a work folder keeps them, to put them back,
after a kill too."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fsgreen import durable
from fsgreen.audit import disks
from fsgreen.audit.tree import HERE, Tree
from fsgreen.errors import FsgreenError


def keep(file: Path, disk: str, found: Mapping[str, int | str], tree: Tree = HERE) -> None:
    """Add to the file how settings of a disk were found, just before a cell changes them.

    A setting that no cell changes is not kept, as someone else may change it meanwhile.
    """
    if file.exists():
        found = {**json.loads(file.read_text())["found"], **found}
    kept = {"disk": disk, "identity": disks.identity(tree, disk), "found": found}
    with durable.whole(file) as partial:
        partial.write_text(json.dumps(kept))


def put_back(
    file: Path,
    settings: Mapping[str, str],
    put: Callable[[str, str, Any], bool],
    tree: Tree = HERE,
    *,
    below: str = disks.BLOCK,
) -> list[str]:
    """Set a disk as the file says; return a line for each action.

    After a boot, and where the disk is gone or another, nothing is set.

    Parameters
    ----------
    file : Path
        What `keep` wrote, if anything.
    settings : mapping
        What messages call each setting, with {} for its value, in the order to put them back in.
    put : callable
        Sets one of a disk, by the names of both and the value, and returns whether it was
        otherwise.
    tree : Tree
        The files of the kernel.
    below : str
        The folder of the kernel that has one of the disk's name. It may be that of the processors,
        which keep their settings as a disk does.

    Raises FsgreenError if something cannot be put back, after it tried the rest. The file stays for
    another attempt.
    """
    try:
        kept = json.loads(file.read_text())
        disk, found = str(kept["disk"]), dict(kept["found"])
        is_here = kept["identity"] == disks.identity(tree, disk) and _exists(tree, below, disk)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, LookupError, TypeError) as error:
        return [f"could not put back what {file.name} says: {error!r}"]
    done: list[str] = []
    failed: list[str] = []
    for name in [name for name in settings if is_here and name in found]:
        what = f"{settings[name].format(found[name])} of {disk}"
        try:
            if put(disk, name, found[name]):
                done.append(f"put back {what}")
        except (OSError, ValueError, TypeError, FsgreenError) as error:
            failed.append(f"{what} cannot be put back: {str(error).partition(chr(10))[0]}")
    if failed:
        by_command = ", or nvme set-feature" if below == disks.BLOCK else ""
        raise FsgreenError(
            "; ".join(failed),
            where=file,
            next_step="the next fsgreen measure tries again; or set it by hand (below "
            f"/{below}/{disk}{by_command}), then rm {file}",
        )
    return done


def _exists(tree: Tree, below: str, disk: str) -> bool:
    """Return whether a disk is there. Kernels before 5.15 do not tell it from others by number."""
    return tree.path(f"{below}/{disk}").exists()
