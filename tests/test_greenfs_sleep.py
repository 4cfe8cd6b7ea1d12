"""A mount of GreenFS puts the disk below it to sleep: a simulated one, with ext4 on it."""

from __future__ import annotations

import json
import mmap
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mounts_of_greenfs import needs_a_mount

from fsgreen import greenfs
from fsgreen.simdisk import Control, Disk, parameters
from tests.patience import wait_for
from tests.testbeds.served import ext4_on, needs_disk

QUICK = {"spin_up_s = 3.5": "spin_up_s = 0.2", "spin_down_s = 4.0": "spin_down_s = 0.1"}
SLEEP_AFTER_S = 0.2
PAGE_B = 4096
ELSEWHERE_B = 1 << 30


@dataclass
class Sleeper:
    """A simulated disk and the file system on it."""

    home: Path
    device: Path
    control: Control

    @property
    def backup(self) -> Path:
        return self.home / "mnt" / "backup"

    def starts(self) -> int:
        count: int = self.control.ask("counters")["counters"]["start_stops_count"]
        return count

    def is_still(self) -> bool:
        return bool(self.control.ask("spin")["spin"] == "standby")

    def log(self) -> str:
        return (self.home / "flash" / ".greenfs" / "log").read_text()

    def mount(self, **named: Any) -> greenfs.Mount:
        named = {"disk": self.backup, "sleep_after_s": SLEEP_AFTER_S, **named}
        return greenfs.Mount(self.home / "flash", self.home / "work", **named)

    def read(self) -> None:
        """Read what nobody has read before, past all caches, as somebody else would."""
        file = os.open(self.device, os.O_RDONLY | os.O_DIRECT)
        try:
            os.preadv(file, [mmap.mmap(-1, PAGE_B)], ELSEWHERE_B)
        finally:
            os.close(file)


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    needs_a_mount()
    with tempfile.TemporaryDirectory(prefix="sleeper-") as name:
        home = Path(name)
        text = parameters("greenfs08-desktop")
        for slow, quick in QUICK.items():
            assert slow in text
            text = text.replace(slow, quick)
        (home / "quick.toml").write_text(text)
        with ext4_on(Disk(str(home / "quick.toml"), clock="instant"), home) as (server, device):
            server.control.ask("clock", to="real")
            yield Sleeper(home, device, server.control)


@needs_disk
def test_a_disk_sleeps_but_for_the_reasons_of_its_mount(sleeper: Sleeper) -> None:
    """It would turn all day, be woken by every look, or lack what the mount promised."""
    with sleeper.mount() as volume:
        volume.wait_for("in standby")
        (sleeper.home / "work" / "file").write_text("precious")
        (sleeper.home / "work" / "file").read_text()
        assert not any((sleeper.home / "work" / f"none-{nth}").exists() for nth in range(100))
        assert "its own count of starts is 0" in volume.status()
        assert sleeper.starts() == 0
    assert sleeper.starts() == 1
    wait_for(sleeper.is_still)

    lines = (sleeper.home / "flash" / ".greenfs" / "spin-ups").read_text().splitlines()
    kept = [json.loads(line.partition(" ")[2]) for line in lines]
    assert [line["why"] for line in kept if "why" in line] == ["new", "unmount"]
    counts = [line["start_stops_count"] for line in kept if "start_stops_count" in line]
    assert counts == [0, 1], "ours and its own"
    assert (sleeper.backup / "file").read_text() == "precious"


@needs_disk
def test_who_else_wakes_the_disk_is_told_of(sleeper: Sleeper) -> None:
    """A disk that something else keeps awake would be taken for one that sleeps."""
    with sleeper.mount() as volume:
        volume.wait_for("in standby")
        sleeper.read()
        said = volume.wait_for("count of starts is 1, 1 of them by others since")
        assert "1 of 4 in a day" in said, "the mount's own balance is as it was"
        volume.wait_for("in standby")
    assert "by others since it last slept: 1" in sleeper.log()

    sleeps = sleeper.log().count("put to sleep")
    with sleeper.mount(spin_ups=0) as volume:
        wait_for(lambda: sleeper.log().count("put to sleep") > sleeps)
        sleeper.read()
        volume.wait_for("not put to sleep: others used it too often today")


@needs_disk
def test_a_disk_with_flash_on_it_is_left_alone(sleeper: Sleeper) -> None:
    """Each change would wake it again at once."""
    flash, work = sleeper.home / "mnt" / "flash", sleeper.home / "work"
    named = {"disk": sleeper.backup, "sleep_after_s": SLEEP_AFTER_S}
    with greenfs.Mount(flash, work, **named) as volume:
        volume.wait_for(f"not put to sleep: on {sleeper.device} is also the flash folder")
    assert sleeper.starts() == 0
    assert not sleeper.is_still()


@needs_disk
def test_a_person_says_how_the_disk_is_stopped(sleeper: Sleeper) -> None:
    """Who is not root could not have it sleep, or a rehearsal would not say whether it will."""
    folders = ("--flash", sleeper.home / "flash", "--disk", sleeper.backup)
    for folder in (sleeper.home / "flash", sleeper.home / "work", sleeper.backup):
        folder.mkdir()
    said = greenfs.ask("mount", "--dry-run", *folders, sleeper.home / "work")
    assert f"a mount puts {sleeper.device} to sleep" in said
    line = f'echo "$1" >>{sleeper.home}/told'
    greenfs.ask("mount", *folders, "--sleep-command", line, sleeper.home / "work")
    greenfs.ask("umount", sleeper.home / "work")
    assert (sleeper.home / "told").read_text() == f"{sleeper.device}\n"
    assert not sleeper.is_still()
