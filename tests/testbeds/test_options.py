"""The option table: what a cell's words become, and what is refused before anything is touched."""

import csv

import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import options


def test_default_is_fast10s_baseline_everywhere() -> None:
    """A default that differs between file systems would make the comparison unfair."""
    for name, spec in options.FILE_SYSTEMS.items():
        if spec.gone is None:
            recipe = options.recipe(name, "default")
            assert recipe.geometry == {"block_b": 4096}
            assert "strictatime" in recipe.mount


def test_every_option_of_table_2_is_known() -> None:
    """A published cell whose words the table lacks could never be measured or called n/a."""
    with (paths.reference() / "fast10_table2.csv").open() as file:
        published = {(row["fs"], row["option"]) for row in csv.DictReader(file)}
    assert published
    for name, option in published:
        spec = options.file_system(name)
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
        ("xfs", "noatime", (), "noatime"),
        ("btrfs", "noatime", (), "nodiscard"),
        ("btrfs", "nodatacow", (), "nodatacow"),
        ("ext4", "relatime", (), "relatime"),
        ("ext4", "nojnl", ("-O", "^has_journal"), "strictatime"),
        ("xfs", "agcnt16", ("-d", "agcount=16"), "strictatime"),
    ],
)
def test_option_reaches_mkfs_or_mount(
    name: str, option: str, mkfs: tuple[str, ...], mount: str
) -> None:
    recipe = options.recipe(name, option)
    joined = " ".join(recipe.mkfs)
    assert " ".join(mkfs) in joined
    assert mount in recipe.mount


def test_combined_options_all_apply_in_any_order() -> None:
    one = options.recipe("xfs", "blk2k+agcnt64+noatime")
    other = options.recipe("xfs", "noatime+agcnt64+blk2k")
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
        ("reiserfs", "notail", "left Linux in 6.13", "ext2, ext3, ext4, xfs, btrfs"),
    ],
)
def test_impossible_cell_is_refused_with_a_reason_and_a_way_on(
    name: str, option: str, said: str, next_step: str | None
) -> None:
    with pytest.raises(FsgreenError) as caught:
        options.recipe(name, option)
    assert said in caught.value.what
    assert next_step is None or next_step in (caught.value.next_step or "")


def test_without_a_journal_no_mode_of_it_is_asked_for() -> None:
    """The kernel refuses data= on an ext4 without a journal."""
    assert not any("data=" in word for word in options.recipe("ext4", "nojnl").mount)


def test_every_missing_option_says_why() -> None:
    """A table cell `n/a` without a reason helps nobody."""
    for name, spec in options.FILE_SYSTEMS.items():
        for option, slot in options.SLOTS.items():
            assert option in spec.options or spec.lacks[slot], (name, option)
