"""The device guard: every way in which a disk could be destroyed by mistake, tried for real."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from loops import attached

import fsgreen
from fsgreen import paths
from fsgreen.devices import blockdev, guard
from fsgreen.devices.probe.target import opened_to_rewrite
from fsgreen.errors import FsgreenError

pytestmark = pytest.mark.loop

SERIAL = "SERIAL-1"
SERIAL_OF = blockdev.serial_of


def run(*command: str) -> None:
    path = paths.program(command[0])
    assert path is not None
    subprocess.run([path, *command[1:]], check=True, capture_output=True)


def listed(device: Path, serial: str | None = SERIAL) -> guard.ListedDisk:
    return guard.ListedDisk(device, serial)


@pytest.fixture(autouse=True)
def serial(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop devices of these tests play disks that have a serial number."""
    monkeypatch.setattr(blockdev, "serial_of", lambda device: SERIAL)


def head(device: Path) -> bytes:
    with device.open("rb") as file:
        return file.read(1 << 20)


def refused(device: Path, said: str, proof: guard.Proof) -> None:
    """The device is refused, says why and what next, and is byte for byte as it was."""
    before = head(device)
    with pytest.raises(FsgreenError, match=said) as caught:
        guard.run_mkfs(["mkfs.ext4", "-q", "-F"], device, proof)
    assert caught.value.next_step
    assert head(device) == before


def test_unlisted_device_is_refused(foreign_loop: Path) -> None:
    refused(foreign_loop, "does not list it", listed(Path("/dev/null")))


def test_mounted_device_is_refused(foreign_loop: Path, tmp_path: Path) -> None:
    run("mkfs.ext4", "-q", str(foreign_loop))
    point = tmp_path / "mounted"
    point.mkdir()
    run("mount", str(foreign_loop), str(point))
    refused(foreign_loop, re.escape(f"is mounted on {point}"), listed(foreign_loop))


@pytest.mark.skipif(
    paths.program("mkfs.btrfs") is None, reason="btrfs: apt-get install btrfs-progs"
)
def test_mounted_btrfs_is_refused_though_its_device_number_hides(
    foreign_loop: Path, tmp_path: Path
) -> None:
    os.truncate(blockdev.backing_file(foreign_loop.name) or "", 256 << 20)
    run("losetup", "--set-capacity", str(foreign_loop))
    run("mkfs.btrfs", "-q", str(foreign_loop))
    point = tmp_path / "mounted"
    point.mkdir()
    run("mount", str(foreign_loop), str(point))
    refused(foreign_loop, "is mounted on", listed(foreign_loop))


@pytest.mark.parametrize("tool", ["mkfs.ext4", "mkswap"])
def test_signature_needs_the_serial_number(foreign_loop: Path, tool: str) -> None:
    run(tool, "-q", str(foreign_loop))
    refused(foreign_loop, r"holds data \((ext4|swap)\)", listed(foreign_loop, None))
    refused(foreign_loop, "the testbed file says SERIAL-2", listed(foreign_loop, "SERIAL-2"))
    guard.run_mkfs(["mkfs.ext2", "-q", "-F"], foreign_loop, listed(foreign_loop))
    assert blockdev.signatures(foreign_loop) == ["ext2"]


def test_partition_table_needs_the_serial_number(foreign_loop: Path) -> None:
    table = bytearray(512)
    table[446:462] = bytes([0, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0])
    table[510:512] = b"\x55\xaa"
    with foreign_loop.open("r+b") as file:
        file.write(table)
        os.fsync(file.fileno())
    refused(foreign_loop, r"holds data \(dos\)", listed(foreign_loop, None))


def test_swap_in_use_is_refused(foreign_loop: Path) -> None:
    run("mkswap", "-q", str(foreign_loop))
    try:
        run("swapon", str(foreign_loop))
    except subprocess.CalledProcessError:
        pytest.skip("this kernel does not swap to loop devices: boot one with CONFIG_SWAP")
    try:
        refused(foreign_loop, "is swap space", listed(foreign_loop))
    finally:
        run("swapoff", str(foreign_loop))


def test_device_behind_another_loop_device_is_refused(foreign_loop: Path) -> None:
    with attached(foreign_loop) as above:
        refused(foreign_loop, f"behind the loop device {above}", listed(foreign_loop))


def test_device_opened_exclusively_is_refused(foreign_loop: Path) -> None:
    """What holds a device in another mount namespace shows in no table of ours."""
    fd = os.open(foreign_loop, os.O_RDONLY | os.O_EXCL)
    try:
        refused(foreign_loop, "cannot be opened alone", listed(foreign_loop))
    finally:
        os.close(fd)


def test_loop_device_on_another_image_is_refused(foreign_loop: Path, tmp_path: Path) -> None:
    """Loop devices are renumbered by every attach: the name alone proves nothing."""
    ours = tmp_path / "image"
    ours.touch()
    refused(foreign_loop, "not to our image", ours)


def test_our_own_image_may_be_formatted_again(foreign_loop: Path) -> None:
    image = blockdev.backing_file(foreign_loop.name)
    for tool in ("mkfs.ext4", "mkfs.ext2"):
        done = guard.run_mkfs([tool, "-q", "-F"], foreign_loop, image)
        assert done == (tool, "-q", "-F", str(foreign_loop))
    assert blockdev.signatures(foreign_loop) == ["ext2"]


def test_an_image_behind_a_second_loop_device_is_refused(foreign_loop: Path) -> None:
    """What is mounted through the other one would be destroyed below its file system."""
    image = blockdev.backing_file(foreign_loop.name)
    assert image is not None
    with attached(image) as second:
        refused(foreign_loop, f"its image is also behind {second}", image)


CONTAINER = """
mount -t tmpfs tmpfs /mnt && cp -a "$1" /dev/null /dev/urandom /mnt && mount --move /mnt /dev &&
exec {python} -c '
import os, sys
from pathlib import Path
from fsgreen.devices import guard
from fsgreen.errors import FsgreenError
if sys.argv[3] == "no nodes":
    def mknod(*_):
        raise PermissionError(1, "Operation not permitted")
    os.mknod = mknod
try:
    guard.check_destructive(Path(sys.argv[1]), Path(sys.argv[2]))
    print("ALLOWED")
except FsgreenError as error:
    print(error)
print(sorted(os.listdir("/dev")))
' "$@"
"""


def checked_in_a_container(device: Path, image: Path, may: str) -> str:
    """What the guard says where /dev shows one loop device only, and what /dev holds then."""
    script = CONTAINER.format(python=sys.executable)
    command = ["unshare", "-m", "sh", "-c", script, "sh", str(device), str(image), may]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"{sorted([device.name, 'null', 'urandom'])}\n")
    return done.stdout


def test_a_second_loop_device_that_a_container_does_not_show_is_found(foreign_loop: Path) -> None:
    """The kernel has it all the same, and the host may have mounted it."""
    image = blockdev.backing_file(foreign_loop.name)
    assert image is not None
    assert "ALLOWED" in checked_in_a_container(foreign_loop, image, "nodes")
    with attached(image) as second:
        said = checked_in_a_container(foreign_loop, image, "nodes")
        assert f"its image is also behind {second}" in said
        said = checked_in_a_container(foreign_loop, image, "no nodes")
        assert "cannot ask which file is behind" in said
        assert "losetup -l" in said


def test_a_loop_device_whose_file_went_meanwhile_is_on_none(foreign_loop: Path) -> None:
    """Others attach and detach all the time; no campaign may end by it."""
    image = blockdev.backing_file(foreign_loop.name)
    assert image is not None
    with attached(image) as second:
        assert blockdev.loop_file(second.name) == (image.stat().st_dev, image.stat().st_ino)
    assert blockdev.loop_file(second.name) is None
    assert blockdev.loop_file("loop-that-never-was") is None


def test_the_device_cannot_get_another_file_between_check_and_mkfs(
    foreign_loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mkfs would format whatever was attached to the same number in the meantime."""
    image, other = blockdev.backing_file(foreign_loop.name), tmp_path / "other"
    other.touch()
    os.truncate(other, 64 << 20)
    found = []

    def reattach_first(command: list[str], **_: object) -> str:
        subprocess.run(["losetup", "--detach", str(foreign_loop)], check=False)
        subprocess.run(["losetup", str(foreign_loop), str(other)], check=False, capture_output=True)
        found.append(blockdev.backing_file(foreign_loop.name))
        return ""

    assert image is not None
    monkeypatch.setattr(guard.commands, "run", reattach_first)
    guard.run_mkfs(["mkfs.ext4"], foreign_loop, image)
    assert found == [image]
    run("losetup", str(foreign_loop), str(image))


@pytest.mark.parametrize(
    ("files", "serial"),
    [
        ({"serial": b"NVME-1\n"}, "NVME-1"),
        ({"device/serial": b" VIRTIO-1 \n"}, "VIRTIO-1"),
        ({"device/vpd_pg80": b"\0\x80\0\x0cWD-WCC4N0001"}, "WD-WCC4N0001"),
        ({"device/vpd_pg80": b"\0\x80\0\0"}, None),
        ({"dev": b"8:16\n", "../udev/b8:16": b"E:ID_BUS=usb\nE:ID_SERIAL_SHORT=USB-1\n"}, "USB-1"),
        ({"dev": b"8:32\n"}, None),
    ],
)
def test_a_serial_number_is_found_where_each_kind_of_disk_has_it(
    files: dict[str, bytes], serial: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk whose number is not found could not be confirmed, or by any text."""
    for name, content in files.items():
        file = tmp_path / "sdx" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.resolve().parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    monkeypatch.setattr(blockdev, "SYS_BLOCK", tmp_path)
    monkeypatch.setattr(blockdev, "UDEV", tmp_path / "udev")
    monkeypatch.setattr(blockdev, "kernel_name", lambda device: "sdx")
    assert SERIAL_OF(Path("/dev/sdx")) == serial


def test_listed_by_another_name_is_found(foreign_loop: Path, tmp_path: Path) -> None:
    by_id = tmp_path / "by-id"
    by_id.symlink_to(foreign_loop)
    guard.check_destructive(foreign_loop, listed(by_id))
    guard.check_destructive(by_id, listed(foreign_loop))


def test_regular_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"precious")
    refused(file, "not a block device", listed(file))


def test_disk_of_the_root_file_system_is_in_use() -> None:
    number = os.stat("/").st_dev
    path = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not path.exists():
        pytest.skip("the root file system has no disk: run on a machine, not in a container")
    assert "is mounted on" in (blockdev.in_use(Path("/dev") / path.resolve().name) or "")


def test_mkfs_runs_nowhere_but_behind_the_guard() -> None:
    """A second place that formats would be a place without a guard."""
    package = Path(fsgreen.__file__).parent
    callers = [
        path.name
        for path in package.rglob("*.py")
        if re.search(r"run\([^)]*(mkfs|wipefs.*--all|blkdiscard)", path.read_text())
        or "run_mkfs(" in path.read_text()
    ]
    assert sorted(callers) == ["guard.py", "volume.py"]


WATCHED = """
import os, stat, sys
from pathlib import Path
from fsgreen.devices.probe import throughput_by_alignment
from fsgreen.testbeds import open_testbed

opened = set()

def watch(event, arguments):
    if event == "open" and not isinstance(arguments[0], int):
        writes = arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes and Path(os.fsdecode(arguments[0])).is_block_device():
            code = sys._getframe(1).f_code
            opened.add(f"{Path(code.co_filename).name} {code.co_name}")

sys.addaudithook(watch)
with open_testbed("loop", in_memory=True, size_b=64 << 20) as bed:
    volume = bed.device.volume
    throughput_by_alignment(
        volume.node, seed=1, passes=1, step_s=0.02, overwriting=volume.overwriting
    )
    for state in ("initial", "steady"):
        bed.prepare({"file_system": "ext2", "option": "default", "device": state})
    bed.remount()
print(*opened, sep="\\n")
"""


def test_a_device_is_opened_to_write_nowhere_but_behind_the_guard() -> None:
    """The probe of alignment once opened it by itself: whatever the name stood for by then."""
    command = [sys.executable, "-c", WATCHED]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["guard.py open_alone"]


def test_a_file_of_our_own_that_became_a_device_is_not_written(
    foreign_loop: Path, tmp_path: Path
) -> None:
    """What stands under the name now belongs to somebody else."""
    link = tmp_path / "probe"
    link.symlink_to(foreign_loop)
    for target, said in ((foreign_loop, "it is not a file"), (link, "Too many levels")):
        with pytest.raises((FsgreenError, OSError), match=said), opened_to_rewrite(target):
            pass
