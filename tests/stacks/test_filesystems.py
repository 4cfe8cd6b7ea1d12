"""The option table: what a cell's words become, and what is refused before anything is touched."""

import csv

import pytest

from fsgreen import commands, paths
from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems


def test_default_is_fast10s_baseline_everywhere() -> None:
    """A default that differs between file systems would make the comparison unfair."""
    for name in filesystems.FILE_SYSTEMS:
        recipe = filesystems.recipe(name, "default")
        assert recipe.geometry == {"block_b": 4096}
        assert "strictatime" in recipe.mount


def test_every_option_of_table_2_is_known() -> None:
    """A published cell whose words the table lacks could never be measured or called n/a."""
    with (paths.reference() / "fast10_table2.csv").open() as file:
        published = {(row["fs"], row["option"]) for row in csv.DictReader(file)}
    assert published
    for name, option in published:
        spec = filesystems.file_system(name)
        assert set(option.split("+")) <= set(spec.options), (name, option)


@pytest.mark.parametrize(
    ("name", "option", "mkfs", "mount"),
    [
        ("ext2", "blk1k", ("-b", "1024"), "strictatime"),
        ("ext3", "dtlg", (), "data=journal"),
        ("ext3", "wrbck", (), "data=writeback"),
        ("ext3", "default", (), "data=ordered"),
        ("ext4", "isz1k", ("-I", "1024"), "strictatime"),
        ("ext4", "bg16k", ("-g", "16384"), "strictatime"),
        ("xfs", "agcnt64", ("-d", "agcount=64"), "strictatime"),
        ("xfs", "agcnt1", ("--unsupported", "-d", "agcount=1"), "strictatime"),
        ("xfs", "noatime", (), "noatime"),
        ("btrfs", "noatime", (), "nodiscard"),
        ("btrfs", "nodatacow", (), "nodatacow"),
        ("ext4", "relatime", (), "relatime"),
        ("ext4", "nojnl", ("-O", "^has_journal"), "strictatime"),
        ("xfs", "agcnt16", ("-d", "agcount=16"), "strictatime"),
        ("reiserfs", "notail", ("-q", "-f"), "notail"),
        ("reiserfs", "dtlg", ("-b", "4096"), "data=journal"),
        ("reiserfs", "wrbck", ("-b", "4096"), "data=writeback"),
        ("reiserfs", "nolog", ("-b", "4096"), "nolog"),
        ("f2fs", "noatime", ("-q", "-f", "-t", "0"), "noatime"),
        ("f2fs", "default", (), "nodiscard"),
        ("nilfs2", "blk1k", ("-q", "-f", "-K", "-b", "1024"), "strictatime"),
        ("nilfs2", "noatime", ("-b", "4096"), "noatime"),
        ("jfs", "relatime", ("-q",), "relatime"),
        ("bcachefs", "noatime", ("-q", "-f", "--block_size=4k"), "noatime"),
    ],
)
def test_option_reaches_mkfs_or_mount(
    name: str, option: str, mkfs: tuple[str, ...], mount: str
) -> None:
    recipe = filesystems.recipe(name, option)
    joined = " ".join(recipe.mkfs)
    assert " ".join(mkfs) in joined
    assert mount in recipe.mount


def test_combined_options_all_apply_in_any_order() -> None:
    one = filesystems.recipe("xfs", "blk2k+agcnt64+noatime")
    other = filesystems.recipe("xfs", "noatime+agcnt64+blk2k")
    assert one.geometry == {"block_b": 2048, "agcount": 64}
    assert (one.mkfs, one.mount) == (other.mkfs, other.mount)
    assert one.mount == ("noatime",)


@pytest.mark.parametrize(
    ("name", "option", "said", "next_step"),
    [
        ("ext5", "default", "did you mean ext", "fsgreen doctor"),
        ("ext4", "blk1", "did you mean blk1k", None),
        ("ext4", "", "unknown option ''", None),
        ("ext4", "default+noatime", "unknown option 'default'", None),
        ("ext2", "dtlg", "it has no journal", "options of ext2: default, noatime"),
        ("xfs", "bg16k", "not block groups", "options of xfs"),
        ("ext4", "agcnt8", "not allocation groups", "options of ext4"),
        ("btrfs", "blk1k", "4 KiB at least", "options of btrfs: default, noatime"),
        ("ext4", "notail", "only reiserfs packs tails", "options of ext4"),
        ("ext3", "dtlg+wrbck", "exclude each other", "keep one"),
        ("ext4", "nojnl+wrbck", "exclude each other", "keep one"),
        ("ext2", "nojnl", "it has no journal", "options of ext2: default, noatime"),
        ("ext4", "nodatacow", "overwrites in place", "options of ext4"),
        ("ext4", "blk1k+bg16k", "blocks of 2 KiB", "blk2k"),
        ("xfs", "blk1k+isz1k", "twice that size", "blk2k"),
        ("f2fs", "blk1k", "the size of a page", "options of f2fs: default, noatime"),
        ("jfs", "dtlg", "its journal holds metadata only", "options of jfs"),
        ("reiserfs", "isz1k", "no size to choose", "options of reiserfs"),
        ("ext2", "discard", "discards nothing while it is mounted", "options of ext2"),
        ("ext4", "noremote", "only greenfs keeps a remote", "options of ext4"),
        ("xfs", "nodisk", "only greenfs keeps a copy", "options of xfs"),
    ],
)
def test_impossible_cell_is_refused_with_a_reason_and_a_way_on(
    name: str, option: str, said: str, next_step: str | None
) -> None:
    with pytest.raises(FsgreenError) as caught:
        filesystems.recipe(name, option)
    assert said in caught.value.what
    assert next_step is None or next_step in (caught.value.next_step or "")


def test_greenfs_lies_on_what_a_cell_of_ext4_is() -> None:
    """What the two differ in would else be more than GreenFS."""
    for option in ("default", "noatime", "blk1k+nojnl"):
        over, alone = filesystems.recipe("greenfs", option), filesystems.recipe("ext4", option)
        assert (over.mkfs, over.mount, over.geometry) == (alone.mkfs, alone.mount, alone.geometry)
        assert over.branches == ("remote", "disk") and not alone.branches
    assert filesystems.recipe("greenfs", "noremote+noatime").branches == ("disk",)


def test_without_a_journal_no_mode_of_it_is_asked_for() -> None:
    """The kernel refuses data= on an ext4 without a journal."""
    assert not any("data=" in word for word in filesystems.recipe("ext4", "nojnl").mount)


def test_every_missing_option_says_why() -> None:
    """A table cell `n/a` without a reason helps nobody."""
    for name, spec in filesystems.FILE_SYSTEMS.items():
        for option, slot in filesystems.SLOTS.items():
            assert option in spec.options or spec.why_lacking(slot), (name, option)


DUMP_F2FS = """\
Info: superblock features = 0 :
magic                         \t\t[0xf2f52010 : 4076150800]
log_sectorsize                \t\t[0x       9 : 9]
log_blocksize                 \t\t[0x       c : 12]
log_blocks_per_seg            \t\t[0x       9 : 9]
"""
NILFS_TUNE = """\
nilfs-tune 2.2.9
Block size:\t\t  1024
Inode size:\t\t  128
Number of segments:\t  31
First data block:\t  1
# of blocks per segment:  2048
Free blocks count:\t  61440
"""
DEBUGREISERFS = """\
Reiserfs super block in block 16 on 0x0 of format 3.6 with standard journal
Count of blocks on the device: 65536
Blocksize: 4096
Journal parameters:
\tDevice [0x0]
\tSize 8193 blocks (including 1 for journal header) (first block 18)
"""
JFS_TUNE = """\
JFS magic number:\t'JFS1'
Aggregate block size:\t4096 bytes
Aggregate size:\t\t521816 blocks
Physical block size:\t512 bytes
Allocation group size:\t8192 aggregate blocks
"""


@pytest.mark.parametrize(
    ("name", "command", "text", "geometry"),
    [
        (
            "f2fs",
            ("dump.f2fs", "-d", "1"),
            DUMP_F2FS,
            {"block_b": 4096, "segment_blocks": 512},
        ),
        (
            "nilfs2",
            ("nilfs-tune", "-l"),
            NILFS_TUNE,
            {"block_b": 1024, "inode_b": 128, "segment_blocks": 2048, "segments_count": 31},
        ),
        (
            "reiserfs",
            ("debugreiserfs",),
            DEBUGREISERFS,
            {"block_b": 4096, "journal_blocks": 8193},
        ),
        ("jfs", ("jfs_tune", "-l"), JFS_TUNE, {"block_b": 4096, "group_blocks": 8192}),
        (
            "bcachefs",
            ("bcachefs", "show-super"),
            "  block_size:               4.00 KiB\n  btree_node_size:  256k\n",
            {"block_b": 4096, "node_b": 256 << 10},
        ),
    ],
)
def test_what_the_tools_print_becomes_the_geometry(
    name: str, command: tuple[str, ...], text: str, geometry: dict[str, int]
) -> None:
    """Texts of f2fs-tools 1.15, nilfs-tools 2.2.9, reiserfsprogs 3.6.27 and jfsutils 1.1.15.

    A block size that is not read back is refused: every trial of that file system would stop.
    """
    (inspection,) = filesystems.file_system(name).inspections
    assert inspection.command == command
    assert inspection.parse(text) == geometry
    assert inspection.parse("something else") == {}


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("ext3", "e2fsprogs"),
        ("xfs", "xfsprogs"),
        ("btrfs", "btrfs-progs"),
        ("reiserfs", "reiserfsprogs"),
        ("f2fs", "f2fs-tools"),
        ("nilfs2", "nilfs-tools"),
        ("jfs", "jfsutils"),
        ("bcachefs", "bcachefs-tools"),
    ],
)
def test_each_missing_tool_names_its_package(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystems, "_has_module", lambda _: True)
    monkeypatch.setattr(paths, "program", lambda tool: None)
    spec = filesystems.file_system(name)
    assert filesystems.usable_here(spec) == (False, f"apt-get install {package}")
    for tool in spec.tools:
        assert commands.remedy(tool) == f"apt-get install {package}"


def test_a_kernel_without_the_file_system_says_where_it_went_and_what_is_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(filesystems, "_has_module", lambda _: False)
    monkeypatch.setattr(filesystems, "_in_kernel", lambda: {"ext4"})
    monkeypatch.setattr(paths, "program", lambda tool: tool)
    with pytest.raises(
        FsgreenError, match=r"reiserfs cannot be used here.*left Linux in 6\.13"
    ) as e:
        filesystems.require(filesystems.file_system("reiserfs"))
    assert e.value.next_step is not None and e.value.next_step.endswith("file system: ext4")
