"""GreenFS over flash, a server and a disk, each a device of its own: the disk sleeps meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels, need
from served import needs_disk

from fsgreen import greenfs
from fsgreen.campaign import passed
from fsgreen.devices import blockdev, mounts
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Disk, Testbed, open_testbed, sweep
from tests.patience import wait_for

pytestmark = pytest.mark.usefixtures("caches_kept")

SIZE_B = 64 << 20
DISK = "greenfs08-desktop"
SLOW_FLASH = "x25-m-g2-slowed"
GREENFS = levels("greenfs", flash="memory")
HARNESS = """
import time
from fsgreen.testbeds import open_testbed
bed = open_testbed("loop", in_memory=True, size_b=64 << 20)
mount = bed.prepare({"file_system": "greenfs", "option": "default", "flash": "memory"})
(mount.directory / "file").write_bytes(b"x" * 5_000_000)
print(*(device.work.path for device in bed.devices().values()), flush=True)
time.sleep(600)
"""


@pytest.fixture
def clients_bed() -> Iterator[Testbed]:
    """A testbed on a disk of greenfs08's, which can sleep."""
    need("greenfs")
    with open_testbed("simdisk", size_b=SIZE_B, disk=Disk(DISK)) as opened:
        yield opened


def ready(bed: Testbed) -> Path:
    """Mount GreenFS as for the work of a trial; return where that is, with a file."""
    place = bed.prepare(GREENFS).directory
    (place / "made").write_bytes(b"made")
    bed.remount()
    return place


def fsync(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def folder(bed: Testbed, role: str) -> Path:
    """The folder of a branch, below the work folder of its device."""
    return bed.devices()[role].work.path / "mount" / role


def said(bed: Testbed) -> str:
    return greenfs.ask("status", "--flash", folder(bed, "flash"))


def turning_uj(bed: Testbed) -> dict[str, int]:
    """The energy of the disk in each state but standstill."""
    control = bed.simulator()
    assert control is not None
    parts_uj: dict[str, int] = control.ask("energy")["parts_uj"]
    return {name: energy_uj for name, energy_uj in parts_uj.items() if name != "standby"}


@needs_disk
def test_each_branch_is_on_its_device_and_the_disk_is_silent_while_programs_work(
    clients_bed: Testbed,
) -> None:
    """A disk that is said to sleep and is asked for something would cost what none is billed."""
    place = ready(clients_bed)
    assert clients_bed.resident_share() == 0
    clients_bed.rest()
    before, still_uj = passed.counted(clients_bed), turning_uj(clients_bed)
    (place / "file").write_bytes(b"worked" * 100_000)
    fsync(place)
    assert (folder(clients_bed, "remote") / "file").stat().st_size == 600_000
    assert "asleep; lacks changes" in said(clients_bed)
    found = passed.since(before, passed.counted(clients_bed))
    assert turning_uj(clients_bed) == still_uj, "its platters stood still all the time"
    assert not any(found["disk"].values())
    assert set(found) == {"disk", "flash", "remote"}
    assert found["flash"]["write_b"] >= 600_000 <= found["remote"]["write_b"]
    nodes = {device.name for device in clients_bed.devices().values()}
    assert len(nodes) == 3
    assert clients_bed.lacking() is None
    assert (folder(clients_bed, "disk") / "file").read_bytes() == b"worked" * 100_000
    (folder(clients_bed, "disk") / "made").unlink()
    assert clients_bed.lacking() == "the disk lacks made", "a trial whose work is protected nowhere"


@needs_disk
def test_a_mount_does_not_stop_the_disk_by_itself(clients_bed: Testbed) -> None:
    """A real one would be stopped in the middle of each trial, and started by the next."""
    ready(clients_bed)
    clients_bed.stack._volume._mount.unmount()  # type: ignore[attr-defined]
    control = clients_bed.simulator()
    assert control is not None and control.ask("spin")["spin"] == "turning"


@needs_disk
def test_programs_go_on_while_the_cable_is_out_and_the_server_gone(clients_bed: Testbed) -> None:
    place, events = ready(clients_bed), clients_bed.stack.events()  # type: ignore[attr-defined]
    copy = folder(clients_bed, "remote")
    events["cable_out"]()
    (place / "silent").write_bytes(b"nobody answers")
    fsync(place)
    assert "away" in said(clients_bed)
    assert not (copy / "silent").exists()
    events["cable_in"]()
    wait_for(lambda: "connected; holds all" in said(clients_bed))
    assert (copy / "silent").read_bytes() == b"nobody answers"
    events["server_killed"]()
    (place / "made").unlink()
    (place / "alone").write_bytes(b"no server")
    fsync(place)
    assert (copy / "made").exists() and not (copy / "alone").exists()
    assert clients_bed.lacking() is None, "a server comes back for what it missed"
    assert (copy / "alone").read_bytes() == b"no server"
    assert not (copy / "made").exists()


@needs_disk
def test_a_file_system_on_flash_leaves_the_disk_alone(clients_bed: Testbed) -> None:
    """The disk can be put to sleep there, too; one that is worked on wakes again."""
    made = clients_bed.prepare(levels("ext3", flash=SLOW_FLASH))
    assert made.device == f"/dev/{clients_bed.devices()['flash'].name}"
    assert made.simulated is not None and made.simulated["disk"] == SLOW_FLASH
    assert not mounts.under(clients_bed.device.work.path / "mount")
    (made.directory / "file").write_bytes(b"x" * 100_000)
    clients_bed.remount()
    clients_bed.rest()
    assert set(clients_bed.simulators()) == {"disk", "flash"}
    assert all(
        disk.ask("describe")["clock"] == "real" for disk in clients_bed.simulators().values()
    )
    before, turns_uj = passed.counted(clients_bed), turning_uj(clients_bed)["idle"]
    assert (made.directory / "file").read_bytes() == b"x" * 100_000
    found = passed.since(before, passed.counted(clients_bed))
    assert found["flash"]["read_b"] >= 100_000 and not found["disk"]["reads_count"]
    wait_for(lambda: turning_uj(clients_bed)["idle"] > turns_uj)

    made = clients_bed.prepare(levels("ext3"))
    assert set(clients_bed.devices()) == {"disk"}
    clients_bed.remount()
    asleep = clients_bed.device.events()["disk_asleep"]  # type: ignore[attr-defined]
    control = clients_bed.simulator()
    assert control is not None

    def sleeps() -> bool:
        asleep()  # what ext3 asks for after it was mounted makes the disk forget it
        return control.ask("energy")["parts_uj"].get("standby", 0) > 0

    wait_for(sleeps)
    (made.directory / "file").write_bytes(b"wakes it")
    fsync(made.directory)
    assert control.ask("counters")["counters"]["start_stops_count"] >= 1


@pytest.mark.loop
def test_what_no_device_beside_the_disk_can_do_is_refused(tmp_path: Path) -> None:
    need("greenfs")
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        bed.check(GREENFS)
        with pytest.raises(FsgreenError, match="whether it keeps its time") as refused:
            bed.check(levels("ext4", flash=SLOW_FLASH))
        assert "flash: memory" in (refused.value.next_step or "")
        with pytest.raises(FsgreenError, match="traffic to flash"):
            bed.check(levels("ext4", flash="memory", disk_mib_s=5))
        bed.prepare(levels("greenfs"))
        with pytest.raises(FsgreenError, match="no server and no cable") as told:
            bed.stack.events()["cable_out"]()  # type: ignore[attr-defined]
        assert "factor flash" in (told.value.next_step or "")
    with (
        open_testbed("directory", folder=tmp_path, size_b=1) as bed,
        pytest.raises(FsgreenError, match="cannot choose flash"),
    ):
        bed.check(levels(bed.only_file_system() or "", flash="memory"))


@pytest.mark.loop
def test_a_killed_harness_leaves_nothing_of_its_three_devices() -> None:
    need("greenfs")
    harness = subprocess.Popen([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    works = [Path(word) for word in harness.stdout.readline().split()]
    assert len(works) == 3
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    swept = sweep()
    assert all(f"removed {work}" in swept for work in works)
    assert not any(work.exists() or mounts.under(work) for work in works)
    wait_for(lambda: not any(_behind(work) for work in works))


def _behind(work: Path) -> bool:
    """Whether a loop device has a file of a work folder."""
    files = (blockdev.backing_file(path.name) for path in Path("/sys/block").glob("loop*"))
    return any(file is not None and work.name in str(file) for file in files)
