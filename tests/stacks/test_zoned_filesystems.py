"""Which cells a zoned disk takes: the others are refused before anything is measured."""

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems

ALL_SEQUENTIAL = {"zone_b": 16 << 20, "conventional_zones_count": 0}
SOME_CONVENTIONAL = {**ALL_SEQUENTIAL, "conventional_zones_count": 4}

CAN = {"btrfs", "f2fs"}


@pytest.mark.parametrize("name", sorted({*filesystems.FILE_SYSTEMS} - CAN))
def test_a_file_system_that_overwrites_is_refused_and_others_are_named(name: str) -> None:
    """Its mkfs ends with an error of input and output, or its first trial does."""
    recipe = filesystems.recipe(name, "default")
    with pytest.raises(FsgreenError, match=f"{name} overwrites") as told:
        filesystems.check_zoned(recipe, SOME_CONVENTIONAL)
    assert "btrfs or f2fs" in (told.value.next_step or "")


@pytest.mark.parametrize(
    ("name", "option", "zones", "said", "next_step"),
    [
        ("f2fs", "discard", ALL_SEQUENTIAL, "no zone of this disk takes that", 'drive = "null"'),
        ("f2fs", "default", SOME_CONVENTIONAL, "not mounted .* without discard", "option: discard"),
        ("btrfs", "nodatacow+noatime", ALL_SEQUENTIAL, "cannot have nodatacow", "leave nodatacow"),
    ],
)
def test_what_a_file_system_lacks_on_zones_is_said(
    name: str, option: str, zones: dict[str, int], said: str, next_step: str
) -> None:
    with pytest.raises(FsgreenError, match=said) as told:
        filesystems.check_zoned(filesystems.recipe(name, option), zones)
    assert next_step in (told.value.next_step or "")


@pytest.mark.parametrize(
    ("name", "option", "mkfs"),
    [
        ("btrfs", "noatime", ("-q", "-f", "-K", "-s", "4096")),
        ("f2fs", "discard+noatime", ("-q", "-f", "-m")),
    ],
)
def test_what_can_be_made_is_made_for_zones(name: str, option: str, mkfs: tuple[str, ...]) -> None:
    """mkfs.f2fs refuses a zoned disk without -m, and with the -t 0 of other disks."""
    recipe = filesystems.recipe(name, option)
    filesystems.check_zoned(recipe, SOME_CONVENTIONAL)
    assert recipe.on_zones().mkfs == mkfs
    assert recipe.on_zones().mount == recipe.mount
