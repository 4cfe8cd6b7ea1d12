"""The kernel's mount table, read right even with odd names and hidden defaults."""

from pathlib import Path

import pytest

from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError

TEXT = (
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "41 27 7:3 / /srv/with\\040space rw,noatime shared:7 master:1 - xfs /dev/loop3 rw,inode64\n"
    "42 41 0:39 / /srv/with\\040space/below rw - btrfs /dev/loop4 rw,ssd,discard=async\n"
)


def test_escaped_names_and_optional_fields_are_understood() -> None:
    root, xfs, btrfs = mounts.parse(TEXT)
    assert root.point == Path("/")
    assert xfs.point == Path("/srv/with space")
    assert xfs.options == ("rw", "noatime", "inode64")
    assert btrfs.source == "/dev/loop4"


def test_spaces_in_the_options_of_wsl_are_understood() -> None:
    """With Docker Desktop every measurement would end in a traceback."""
    text = "99 27 0:66 / /Docker rw - 9p drvfs rw,aname=drvfs;path=C:\\Program Files\\Docker\n"
    (entry,) = mounts.parse(text)
    assert (entry.file_system, entry.source) == ("9p", "drvfs")


def test_hidden_defaults_are_named() -> None:
    """strictatime shows as nothing at all: a check for it must not always fail or always pass."""
    root, xfs, btrfs = (mounts.complete_options(entry) for entry in mounts.parse(TEXT))
    assert "strictatime" not in root and "nodiscard" not in root
    assert "strictatime" not in xfs and "nodiscard" in xfs
    assert "strictatime" in btrfs and "nodiscard" not in btrfs


def test_a_path_is_on_the_innermost_mount() -> None:
    assert mounts.holding(Path("/proc/self")).file_system == "proc"
    assert mounts.holding(Path("/")).point == Path("/")


def test_a_changed_root_without_a_mount_of_its_own_is_told(monkeypatch) -> None:
    monkeypatch.setattr(mounts, "mounted", lambda: mounts.parse(TEXT)[1:])
    with pytest.raises(FsgreenError, match="mount --bind"):
        mounts.holding(Path("/"))
