"""How QEMU is started for each clock."""

from pathlib import Path

import pytest

from fsgreen import paths
from fsgreen.devices.vm import boot
from fsgreen.devices.vm.boot import Machine
from fsgreen.devices.vm.image import Image
from fsgreen.errors import FsgreenError

IMAGE = Image(Path("/cache/vmlinux"), Path("/cache/initrd"), {})


def words(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> str:
    """The command of a guest in a line."""
    monkeypatch.setattr(boot, "require", lambda: "/usr/bin/qemu-system-x86_64")
    return " ".join(boot.command(machine, IMAGE))


def test_nothing_of_this_machine_reaches_a_guest_in_virtual_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A disk or a port of this machine would answer when it likes: other bytes each time."""
    command = words(Machine("virtual", "null"), monkeypatch)
    assert "-icount shift=0,sleep=off" in command
    assert "-smp 1" in command and "thread=single" in command
    assert "-seed 1" in command and "clock=vm" in command and "norandmaps" in command
    assert not {"socket", "-drive", "-netdev", "kvm"} & set(command.replace(",", " ").split())


def test_a_clock_has_its_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "-accel kvm -cpu host" in words(Machine("kvm"), monkeypatch)
    emulated = words(Machine("tcg"), monkeypatch)
    assert "-accel tcg" in emulated and "icount" not in emulated


@pytest.mark.parametrize(("drive", "device"), [("virtio", "virtio-blk-pci"), ("nvme", "nvme")])
def test_a_drive_has_the_serial_number_that_the_guest_formats(
    drive: boot.Drive, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device guard of the guest formats no other disk."""
    command = words(Machine("tcg", drive), monkeypatch)
    assert f"-device {device},drive=disk,serial=fsgreen" in command
    assert "cache=none" in command, "the page cache of this machine would hide the disk"


def test_a_zoned_drive_is_a_namespace_of_an_nvme_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """QEMU has zones in namespaces alone; the serial number is that of their controller."""
    command = words(Machine("tcg", "nvme", drive_zone_mib=16), monkeypatch)
    assert "-device nvme,id=nvme,serial=fsgreen" in command
    assert "-device nvme-ns,bus=nvme,drive=disk,zoned=on,zoned.zone_size=16777216" in command
    assert "zoned" not in words(Machine("tcg", "nvme"), monkeypatch)


def test_a_guest_sees_as_much_of_a_simulated_disk_as_it_is_to_format(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = words(Machine("tcg", simulated_b=512 << 20), monkeypatch)
    assert "file=served/disk,format=raw,size=536870912,cache=none" in command


def test_a_guest_is_bound_in_what_may_wait_to_be_written_only_if_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In seconds, servers would write into memory what long runs write to the disk."""
    assert "sysctl.vm.dirty_bytes=33554432" in words(Machine("tcg", dirty_mib=32), monkeypatch)
    assert "dirty" not in words(Machine("tcg"), monkeypatch)


def test_a_disk_lets_through_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    command = words(Machine("tcg", drive_mib_s=2, drive_iops=300), monkeypatch)
    assert "throttling.bps-total=2097152,throttling.iops-total=300" in command
    assert "throttling" not in words(Machine("tcg"), monkeypatch)


def test_without_qemu_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "program", lambda name: None)
    with pytest.raises(FsgreenError, match="QEMU, which runs the guest, is not installed") as told:
        boot.require()
    assert told.value.next_step == "apt-get install qemu-system-x86"
