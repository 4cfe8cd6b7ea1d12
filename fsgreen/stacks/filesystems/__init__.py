"""The file systems: how the levels of a cell become arguments of mkfs and mount, and are verified.

An option fills a slot (`block`, `atime`, ...). At most one option fills a slot. The other slots
keep the file system's default. The names are from Sehgal, Tarasov, Zadok, FAST 2010, section 4. A
further file system is an entry in `inplace`, `outofplace` or, if it is served from another one,
`served`, and an entry in `FILE_SYSTEMS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fsgreen import commands, paths
from fsgreen.devices.base import Availability
from fsgreen.errors import FsgreenError, unknown
from fsgreen.stacks.filesystems.base import FileSystem, Recipe, Setting
from fsgreen.stacks.filesystems.inplace import EXT2, EXT3, EXT4, JFS, REISERFS, XFS
from fsgreen.stacks.filesystems.outofplace import BCACHEFS, BTRFS, F2FS, NILFS2
from fsgreen.stacks.filesystems.served import GREENFS, NFS
from fsgreen.stacks.filesystems.zoned import check as check_zoned

__all__ = [
    "FILE_SYSTEMS",
    "SLOTS",
    "FileSystem",
    "Recipe",
    "Setting",
    "available",
    "check_zoned",
    "file_system",
    "recipe",
    "require",
    "usable_here",
    "verify",
]

FILE_SYSTEMS: Mapping[str, FileSystem] = {
    spec.name: spec
    for spec in (EXT2, EXT3, EXT4, XFS, BTRFS, REISERFS, F2FS, NILFS2, JFS, BCACHEFS, GREENFS, NFS)
}

FUSE = Path("/dev/fuse")
"""The device through which programs serve file systems."""

SLOTS: Mapping[str, str] = {
    name: setting.slot for spec in FILE_SYSTEMS.values() for name, setting in spec.options.items()
}
"""Every known option name and the slot that it fills."""


def file_system(name: str) -> FileSystem:
    """Return a file system by name. Raises `FsgreenError` with the nearest name if unknown."""
    if name not in FILE_SYSTEMS:
        raise unknown("file system", name, FILE_SYSTEMS, next_step="fsgreen doctor")
    return FILE_SYSTEMS[name]


def recipe(file_system_name: str, option: str) -> Recipe:
    """Return how a cell is made, mounted and verified.

    The option is `default`, or option names joined by `+` (`blk2k+agcnt64`). Raises FsgreenError if
    a name is unknown, if the file system lacks the option, or if options exclude each other.
    """
    spec = file_system(file_system_name)
    slots = {setting.slot: setting for setting in spec.defaults}
    taken: dict[str, str] = {}
    for name in [] if option == "default" else option.split("+"):
        slot = SLOTS.get(name)
        if slot is None:
            raise unknown("option", name, ["default", *SLOTS], where=f"{spec.name} {option}")
        if name not in spec.options:
            raise FsgreenError(
                f"{spec.name} lacks the option {name}: {spec.why_lacking(slot)}",
                next_step=f"options of {spec.name}: {', '.join(['default', *spec.options])}",
            )
        if slot in taken:
            raise FsgreenError(
                f"{taken[slot]} and {name} exclude each other: both set {slot}",
                where=f"{spec.name} {option}",
                next_step="keep one of the two",
            )
        taken[slot] = name
        slots[slot] = spec.options[name]
    settings = slots.values()
    geometry = {key: value for setting in settings for key, value in setting.geometry.items()}
    _check_geometry(spec.name, option, geometry)
    return Recipe(
        file_system=spec,
        option=option,
        mkfs=(*spec.mkfs, *(word for setting in settings for word in setting.mkfs)),
        mount=tuple(word for setting in settings for word in setting.mount),
        geometry=geometry,
        branches=tuple(branch for setting in settings for branch in setting.branches),
    )


def _check_geometry(name: str, option: str, geometry: Mapping[str, int]) -> None:
    """Raise `FsgreenError` for a geometry that mkfs would refuse.

    The limits are those of mke2fs(8) -g, with one bitmap block per group, and of mkfs.xfs(8) -i
    size.
    """
    block_b = geometry["block_b"]
    if geometry.get("blocks_per_group", 0) > 8 * block_b:
        raise FsgreenError(
            f"a group of {geometry['blocks_per_group']} blocks needs blocks of 2 KiB at least",
            where=f"{name} {option}",
            next_step="combine bg16k with blk2k or with the default",
        )
    if name == "xfs" and geometry.get("inode_b", 0) > block_b // 2:
        raise FsgreenError(
            f"an xfs inode of {geometry['inode_b']} B needs blocks of twice that size at least",
            where=f"{name} {option}",
            next_step="combine isz1k with blk2k or with the default",
        )


def verify(asked: Mapping[str, int], read: Mapping[str, int], where: str) -> None:
    """Raise `FsgreenError` if the geometry read from a disk is not what the cell asked for."""
    wrong = [
        f"{name} is {read.get(name)}, asked for {value}"
        for name, value in asked.items()
        if read.get(name) != value
    ]
    if wrong:
        raise FsgreenError(
            f"mkfs made something else: {'; '.join(wrong)}",
            where=where,
            next_step="fsgreen doctor, and compare the versions of the mkfs tools",
        )


def available() -> list[Availability]:
    """Return what `usable_here` returns for each file system."""
    return [Availability(spec.name, *usable_here(spec)) for spec in FILE_SYSTEMS.values()]


def require(spec: FileSystem) -> None:
    """Raise `FsgreenError` unless this kernel and its tools can make and mount a file system."""
    usable, why = usable_here(spec)
    if not usable:
        others = [
            found.name
            for found in available()
            if found.usable and not FILE_SYSTEMS[found.name].program
        ]
        instead = f", or take another file system: {', '.join(others)}" if others else ""
        raise FsgreenError(f"{spec.name} cannot be used here: {why}", next_step=why + instead)


def usable_here(spec: FileSystem) -> tuple[bool, str]:
    """Return whether this kernel and its tools can make and mount a file system, and the reason.

    If they cannot, the reason says how to mend it.
    """
    if spec.exported:
        return False, "in a guest alone: --testbed vm (docs/readahead.md)"
    if spec.on_device not in _in_kernel() and not _has_module(spec.on_device):
        history = f" ({spec.history})" if spec.history else ""
        return False, f"not in this kernel{history}: boot one that has it, or see docs/vm.md"
    for tool in spec.tools:
        if paths.program(tool) is None:
            return False, commands.remedy(tool)
    if not spec.program:
        return True, f"{spec.tool} and the kernel have it"
    if paths.program(spec.program) is None:
        remedy = f"{paths.BUILD} (a guest has none)"
        return False, f"the program {spec.program} is not installed: {remedy}"
    if not FUSE.exists():
        return False, f"no {FUSE}: modprobe fuse (in a container: --device {FUSE})"
    return True, f"{spec.tool}, {FUSE} and the program {spec.program}"


def _in_kernel() -> set[str]:
    return {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}


def _has_module(name: str) -> bool:
    try:
        commands.run(["modprobe", "--dry-run", "--quiet", name])
    except FsgreenError:
        return False
    return True
