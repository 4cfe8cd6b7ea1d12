"""Loop devices that play real disks: with a serial number, and named by-id."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fsgreen.devices import blockdev

SERIAL = "WD-WCC4N0000001"


def play(device: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, serial: str = SERIAL) -> Path:
    """Give a device a serial number in a copy of sysfs; return its name by-id.

    The copy holds links to the entries of all devices, and a folder for the one that plays.
    """
    sysfs, by_id = folder / "sysfs", folder / "by-id"
    for made in (sysfs, by_id, sysfs / device.name):
        made.mkdir()
    for entry in Path("/sys/class/block").iterdir():
        if entry.name != device.name:
            (sysfs / entry.name).symlink_to(entry.resolve())
    for entry in Path("/sys/class/block", device.name).resolve().iterdir():
        (sysfs / device.name / entry.name).symlink_to(entry)
    (sysfs / device.name / "serial").write_text(f"{serial}\n")
    monkeypatch.setattr(blockdev, "SYS_BLOCK", sysfs)
    name = by_id / f"ata-PLAYED_{serial}"
    name.symlink_to(device)
    assert os.path.samefile(name, device)
    return name
