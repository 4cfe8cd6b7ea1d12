"""fast10's option names, what each means to mkfs and mount, and how each is verified.

An option fills a slot (`block`, `atime`, ...), one option a slot; the other slots keep the file
system's default. Names: Sehgal, Tarasov, Zadok, FAST 2010, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fsgreen.errors import FsgreenError, unknown

MIB_B = 1 << 20


@dataclass(frozen=True)
class Setting:
    """How one slot is set: mkfs arguments, mount options, and the geometry that must result."""

    slot: str
    meaning: str
    mkfs: tuple[str, ...] = ()
    mount: tuple[str, ...] = ()
    geometry: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FileSystem:
    """A file system: how it is made without first-touch effects, its defaults and its options.

    `mkfs` holds arguments that every trial gets; `minimum_b` is the smallest device it accepts;
    `lacks` says, for slots that it does not have, why.
    """

    name: str
    mkfs: tuple[str, ...]
    minimum_b: int
    defaults: tuple[Setting, ...]
    options: Mapping[str, Setting]
    lacks: Mapping[str, str]
    gone: str | None = None

    @property
    def tool(self) -> str:
        """The name of the program that makes it."""
        return f"mkfs.{self.name}"


@dataclass(frozen=True)
class Recipe:
    """What a cell asks for: the arguments, and what must be read back afterwards."""

    file_system: FileSystem
    option: str
    mkfs: tuple[str, ...]
    mount: tuple[str, ...]
    geometry: dict[str, int]

    @property
    def minimum_b(self) -> int:
        """The smallest device in bytes.

        XFS: 300 MiB, and 64.25 MiB for each allocation group that is asked for: the log of at
        least 64 MiB lies inside one of them, beside its headers (mkfs.xfs 5.19 and later).
        """
        agcount = self.geometry.get("agcount", 0)
        return max(self.file_system.minimum_b, agcount * 257 * MIB_B // 4)


STRICTATIME = Setting(
    "atime", "access times always written (fast10's default)", (), ("strictatime",)
)
NOATIME = Setting("atime", "access times not written", (), ("noatime",))
RELATIME = Setting(
    "atime",
    "access times written once a day, or after a change (Linux's default)",
    (),
    ("relatime",),
)
JOURNAL = Setting("data", "data journalled", (), ("data=journal",))
WRITEBACK = Setting("data", "data not ordered before metadata", (), ("data=writeback",))
ORDERED = Setting("data", "data written before its metadata (default)", (), ("data=ordered",))


def _ext_block(size_b: int) -> Setting:
    return Setting("block", f"{size_b} B blocks", ("-b", str(size_b)), (), {"block_b": size_b})


def _xfs_block(size_b: int) -> Setting:
    return Setting("block", f"{size_b} B blocks", ("-b", f"size={size_b}"), (), {"block_b": size_b})


def _agcount(count: int) -> Setting:
    return Setting(
        "agcount", f"{count} allocation groups", ("-d", f"agcount={count}"), (), {"agcount": count}
    )


# mke2fs takes 1 KiB blocks and more inodes on small images: both are fixed to what it takes on
# disks above 512 MiB, so that the default does not depend on the size of the image. The hash seed
# orders names in directories and spreads directories over groups: fixed, so that equal trials get
# equal layouts (the UUID places nothing, and mkfs.btrfs refuses one that it has seen). Lazy
# initialisation would go on writing while the trial is measured.
EXT_MKFS = (
    "-q",
    "-F",
    "-i",
    "16384",
    "-E",
    "nodiscard,lazy_itable_init=0,lazy_journal_init=0,"
    "hash_seed=5f7a1e36-2b0c-4d8e-9a51-66d3c0b4f210",
)
EXT_OPTIONS = {
    "noatime": NOATIME,
    "relatime": RELATIME,
    "blk1k": _ext_block(1024),
    "blk2k": _ext_block(2048),
    "isz1k": Setting("inode", "1 KiB inodes", ("-I", "1024"), (), {"inode_b": 1024}),
    "bg16k": Setting(
        "group", "16 Ki blocks a group", ("-g", "16384"), (), {"blocks_per_group": 16384}
    ),
}
EXT4_OPTIONS = {
    # It fills the slot of the journal's mode: without a journal, a data= option stops the mount.
    "nojnl": Setting("data", "no journal", ("-O", "^has_journal")),
}
EXT_LACKS = {
    "cow": "it overwrites in place",
    "agcount": "it has block groups, not allocation groups (bg16k changes them)",
    "log": "only reiserfs could mount without its log",
    "tail": "only reiserfs packs tails",
}
DATA_OPTIONS = {"dtlg": JOURNAL, "wrbck": WRITEBACK}


def _ext(name: str, *, journal: bool, more: Mapping[str, Setting] | None = None) -> FileSystem:
    return FileSystem(
        name=name,
        mkfs=EXT_MKFS,
        minimum_b=32 * MIB_B,
        defaults=(_ext_block(4096), STRICTATIME, *((ORDERED,) if journal else ())),
        options={**EXT_OPTIONS, **(DATA_OPTIONS if journal else {}), **(more or {})},
        lacks={
            **EXT_LACKS,
            "data": "without its journal it is ext2" if journal else "it has no journal",
        },
    )


XFS = FileSystem(
    name="xfs",
    mkfs=("-q", "-f", "-K"),
    minimum_b=300 * MIB_B,
    defaults=(_xfs_block(4096), STRICTATIME),
    options={
        "noatime": NOATIME,
        "relatime": RELATIME,
        "blk1k": _xfs_block(1024),
        "blk2k": _xfs_block(2048),
        "isz1k": Setting("inode", "1 KiB inodes", ("-i", "size=1024"), (), {"inode_b": 1024}),
        **{f"agcnt{count}": _agcount(count) for count in (8, 16, 32, 64, 128)},
    },
    lacks={
        "group": "it has allocation groups, not block groups (agcnt8 to agcnt128 change them)",
        "data": "its journal holds metadata only",
        "cow": "it overwrites in place",
        "log": "only reiserfs could mount without its log",
        "tail": "only reiserfs packs tails",
    },
)

# Discard is off as for the other file systems: on an image it would free the blocks.
BTRFS = FileSystem(
    name="btrfs",
    mkfs=("-q", "-f", "-K"),
    minimum_b=128 * MIB_B,
    defaults=(
        Setting("block", "4 KiB sectors", ("-s", "4096"), (), {"block_b": 4096}),
        STRICTATIME,
        Setting("discard", "no discard", (), ("nodiscard",)),
    ),
    options={
        "noatime": NOATIME,
        "relatime": RELATIME,
        "nodatacow": Setting("cow", "data overwritten in place, unchecked", (), ("nodatacow",)),
    },
    lacks={
        "block": "its sectors have 4 KiB at least",
        "inode": "its inodes are items of a tree, without a size of their own",
        "group": "its block groups have no size to choose",
        "agcount": "it has no allocation groups",
        "data": "it writes copies instead of journalling",
        "log": "only reiserfs could mount without its log",
        "tail": "only reiserfs packs tails",
    },
)

REISERFS = FileSystem(
    name="reiserfs",
    mkfs=("-q", "-f"),
    minimum_b=64 * MIB_B,
    defaults=(Setting("block", "4 KiB blocks", ("-b", "4096"), (), {"block_b": 4096}), STRICTATIME),
    options={
        "noatime": NOATIME,
        "relatime": RELATIME,
        "notail": Setting("tail", "tails not packed", (), ("notail",)),
        "nolog": Setting("log", "no journal", (), ("nolog",)),
        "blk1k": _ext_block(1024),
        "blk2k": _ext_block(2048),
        **DATA_OPTIONS,
    },
    lacks={
        "inode": "its inodes have no size of their own",
        "group": "it has no block groups",
        "agcount": "it has no allocation groups",
        "data": "nolog mounts it without its journal",
        "cow": "it overwrites in place",
    },
    gone="left Linux in 6.13",
)

FILE_SYSTEMS: Mapping[str, FileSystem] = {
    spec.name: spec
    for spec in (
        _ext("ext2", journal=False),
        _ext("ext3", journal=True),
        _ext("ext4", journal=True, more=EXT4_OPTIONS),
        XFS,
        BTRFS,
        REISERFS,
    )
}

SLOTS: Mapping[str, str] = {
    name: setting.slot for spec in FILE_SYSTEMS.values() for name, setting in spec.options.items()
}
"""Every known option name and the slot that it fills."""


def file_system(name: str) -> FileSystem:
    """Return a file system by name; raises `FsgreenError` with the nearest name if unknown."""
    if name not in FILE_SYSTEMS:
        raise unknown("file system", name, FILE_SYSTEMS, next_step="fsgreen doctor")
    return FILE_SYSTEMS[name]


def recipe(file_system_name: str, option: str) -> Recipe:
    """Return how a cell is made, mounted and verified.

    Parameters
    ----------
    file_system_name : str
        One of `FILE_SYSTEMS`.
    option : str
        `default`, or option names joined by `+` (`blk2k+agcnt64`).

    Raises
    ------
    FsgreenError
        If a name is unknown, the file system lacks the option or has left Linux, or if options
        exclude each other.
    """
    spec = file_system(file_system_name)
    if spec.gone is not None:
        raise FsgreenError(
            f"{spec.name}: n/a, it {spec.gone}",
            next_step="take another file system: "
            + ", ".join(name for name, other in FILE_SYSTEMS.items() if other.gone is None),
        )
    slots = {setting.slot: setting for setting in spec.defaults}
    taken: dict[str, str] = {}
    for name in [] if option == "default" else option.split("+"):
        slot = SLOTS.get(name)
        if slot is None:
            raise unknown("option", name, ["default", *SLOTS], where=f"{spec.name} {option}")
        if name not in spec.options:
            raise FsgreenError(
                f"{spec.name} lacks the option {name}: {spec.lacks[slot]}",
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
    )


def _check_geometry(name: str, option: str, geometry: Mapping[str, int]) -> None:
    """Refuse what mkfs would: mke2fs(8) -g (one bitmap block a group), mkfs.xfs(8) -i size."""
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
