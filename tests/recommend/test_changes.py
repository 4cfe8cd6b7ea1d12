"""What a change takes and what it puts at risk: to mix these up loses data."""

import pytest

from fsgreen import recommend
from fsgreen.analysis.configuration import configuration, parse
from fsgreen.errors import FsgreenError
from tests.recommend.choices import NOW


@pytest.mark.parametrize(
    ("now", "then", "kind", "how"),
    [
        ("ext3/default", "ext3/default", "none", ""),
        ("ext3/default", "ext3/noatime", "mount", "mount -o remount,noatime"),
        ("ext3/noatime", "ext3/default", "mount", "mount -o remount,strictatime"),
        ("ext3/default", "ext3/dtlg", "mount", "umount; mount -o data=journal"),
        ("ext3/default", "ext3/blk2k", "format", "mkfs.ext3 -b 2048"),
        ("ext3/blk2k", "ext3/default", "format", "mkfs.ext3"),
        ("ext3/blk2k", "ext3/blk2k+noatime", "mount", "mount -o remount,noatime"),
        (
            "ext4/noatime",
            "ext4/noatime+wrbck",
            "mount",
            "umount; mount -o noatime,data=writeback",
        ),
        (
            "ext4/default",
            "ext4/nojnl",
            "offline",
            "umount; tune2fs -O ^has_journal,^orphan_file; mount",
        ),
        (
            "ext4/wrbck",
            "ext4/nojnl+noatime",
            "offline",
            "umount; tune2fs -O ^has_journal,^orphan_file; mount -o noatime",
        ),
        (
            "ext4/nojnl",
            "ext4/wrbck",
            "offline",
            "umount; tune2fs -O has_journal; mount -o data=writeback",
        ),
        ("ext4/nojnl", "ext4/nojnl+noatime", "mount", "mount -o remount,noatime"),
        ("ext4/blk2k", "ext4/nojnl", "format", "mkfs.ext4 -O ^has_journal"),
        (
            "ext3/noatime",
            "ext2/noatime",
            "offline",
            "umount; tune2fs -O ^has_journal; mount -t ext2 -o noatime",
        ),
        (
            "ext2/blk2k",
            "ext3/blk2k+dtlg",
            "offline",
            "umount; tune2fs -O has_journal; mount -t ext3 -o data=journal",
        ),
        ("ext3/blk2k", "ext2/default", "file system", "mkfs.ext2"),
        ("ext3/default", "ext4/default", "file system", "mkfs.ext4"),
        (
            "ext4/default",
            "greenfs/default",
            "file system",
            "mkfs.ext4; greenfs mount (docs/greenfs.md)",
        ),
        (
            "greenfs/default",
            "greenfs/noremote",
            "mount",
            "umount; mount; greenfs mount (docs/greenfs.md)",
        ),
        (
            "ext4/default",
            "nfs/default",
            "file system",
            "mkfs.ext4; exportfs; mount --types nfs4 (docs/readahead.md)",
        ),
        ("ext4/default", "ext2/default", "file system", "mkfs.ext2"),
        ("ext3/default", "ext3/isz1k", "format", "mkfs.ext3 -I 1024"),
        ("ext3/default", "xfs/default", "file system", "mkfs.xfs"),
        (
            "ext3/default",
            "xfs/blk2k+agcnt64+noatime",
            "file system",
            "mkfs.xfs -b size=2048 -d agcount=64; mount -o noatime",
        ),
        ("overlay/default", "xfs/default", "file system", "mkfs.xfs"),
    ],
)
def test_what_a_change_takes_is_said_as_a_command(now, then, kind, how):
    """mkfs needs a backup, and nothing else does: to mix them up loses data or a gain."""
    change = recommend.change(parse(now), parse(then))
    assert (change.kind, change.how) == (kind, how)


def test_an_option_that_a_file_system_lacks_is_refused():
    with pytest.raises(FsgreenError, match="unknown option 'dtlg'"):
        recommend.change(NOW, configuration("xfs", "dtlg"))


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        ("ext3/default", "ext3/wrbck", "old content"),
        ("ext3/default", "ext2/default", "no journal"),
        ("ext3/default", "xfs/default", ""),
        ("ext3/default", "ext3/noatime", ""),
        ("ext2/default", "ext3/wrbck", ""),
        ("ext3/dtlg", "ext3/default", "half done"),
        ("btrfs/default", "ext4/default", "checksums"),
        ("ext4/default", "btrfs/default", ""),
    ],
)
def test_a_risk_is_one_that_data_do_not_run_now(now, then, said):
    """Who has no journal loses none; who gives one up must be told."""
    risk = recommend.change(parse(now), parse(then)).risk
    assert bool(risk) == bool(said)
    assert said in risk
