"""Mounts and unmounts file systems, and reads the kernel's table of mounts (proc(5), mountinfo)."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fsgreen import commands
from fsgreen.errors import FsgreenError

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs"})
"""File systems that are in the page cache itself, and so are never cold."""


@dataclass(frozen=True)
class MountEntry:
    """One line of /proc/self/mountinfo."""

    device_number: str
    point: Path
    file_system: str
    source: str
    options: tuple[str, ...]


def _decode(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)


def parse(text: str) -> list[MountEntry]:
    """Return the entries of a mountinfo text, in mount order.

    `options` holds the options of the mount point first, then those of the file system.
    """
    entries = []
    for line in text.splitlines():
        left, right = line.split(" - ", 1)
        _, _, number, _, point, options, *_ = left.split(" ")
        # WSL's mounts of Windows folders have spaces in their options.
        file_system, source, super_options = right.split(" ", 2)
        together = dict.fromkeys(options.split(",") + super_options.split(","))
        entries.append(
            MountEntry(number, Path(_decode(point)), file_system, _decode(source), tuple(together))
        )
    return entries


def mounted() -> list[MountEntry]:
    """Return the present mounts, in mount order."""
    return parse(Path("/proc/self/mountinfo").read_text(errors="surrogateescape"))


def mount(
    device: Path | str, point: Path, file_system: str, options: Sequence[str], *, lock_fd: int
) -> tuple[str, ...]:
    """Mount a device, or the export of a server; return the options as mounted.

    All requested options are among them.

    Raises FsgreenError if it cannot be mounted, or if an option or the file system is not the
    requested one.
    """
    asked = ",".join(options)
    commands.run(
        ["mount", "--types", file_system, "--options", asked, str(device), str(point)],
        lock_fd=lock_fd,
    )
    entry = under(point)[0]
    as_mounted = complete_options(entry)
    missing = [option for option in options if option not in as_mounted]
    if entry.file_system != file_system or missing:
        raise FsgreenError(
            f"not mounted as asked: {entry.file_system} {','.join(as_mounted)} "
            f"without {', '.join(missing) or file_system}",
            where=point,
            next_step=f"dmesg, and mount -t {file_system} -o {asked} by hand",
        )
    return as_mounted


def unmount(point: Path, *, lock_fd: int | None = None, lazily: bool = False) -> None:
    """Unmount `point`. If it is busy, try again for a second.

    With `lazily`, a mount that stays busy is detached from the tree.

    Raises FsgreenError if it stays busy without `lazily`, or cannot be unmounted for another
    reason.
    """
    for _ in range(10):
        try:
            commands.run(["umount", str(point)], lock_fd=lock_fd)
            return
        except FsgreenError as error:
            if "busy" not in error.what:
                raise
            time.sleep(0.1)
    if not lazily:
        raise FsgreenError(
            "the file system is still in use", where=point, next_step=f"fuser -vm {point}"
        )
    commands.run(["umount", "--lazy", str(point)], lock_fd=lock_fd)


def under(folder: Path) -> list[MountEntry]:
    """Return the mounts at or below `folder`, the last mounted first."""
    return [entry for entry in reversed(mounted()) if entry.point.is_relative_to(folder)]


def holding(path: Path) -> MountEntry:
    """Return the mount that holds an existing path.

    Raises FsgreenError if none is visible, as after a chroot to a folder that is not a mount point.
    """
    path = path.resolve()
    above = [entry for entry in reversed(mounted()) if path.is_relative_to(entry.point)]
    if not above:
        raise FsgreenError(
            "no visible mount holds this path",
            where=path,
            next_step="mount --bind ROOT ROOT before chroot ROOT, or leave the chroot",
        )
    return max(above, key=lambda entry: len(entry.point.parts))


def in_memory(path: Path) -> bool:
    """Return whether an existing path is in RAM."""
    return holding(path).file_system in MEMORY_FILE_SYSTEMS


def complete_options(entry: MountEntry) -> tuple[str, ...]:
    """Return a mount's options, including defaults that the kernel's table leaves out.

    The table shows `strictatime` as the absence of noatime and relatime, and `nodiscard` as the
    absence of discard. The default data mode of ext3 and ext4 is only in the driver's own list.
    """
    found = list(entry.options)
    if not {"noatime", "relatime"} & set(found):
        found.append("strictatime")
    if not any(option.startswith("discard") or option == "nodiscard" for option in found):
        found.append("nodiscard")
    if not any(option.startswith("data=") for option in found):
        listed = Path("/proc/fs/ext4") / Path(entry.source).name / "options"
        if listed.exists():
            words = listed.read_text().split()
            found += [option for option in words if option.startswith("data=")]
    return tuple(found)
