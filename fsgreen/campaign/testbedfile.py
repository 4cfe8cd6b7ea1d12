"""The testbed file: where a campaign runs and which meters watch it, in TOML.

[testbed]
kind = "loop"                 # auto, loop, directory, block, simdisk or vm
folder = "/var/tmp"           # for the image, or the directory itself
in_memory = false
pulses = false                # load pulses for meters with a clock of their own
device = "/dev/disk/by-id/ata-WDC_..."   # block: the disk, all of whose data are lost
serial = "WD-WCC4N0000001"    # block: its serial number, which confirms that
partition = 2                 # block: the partition that is formatted, in place of all of the disk
disk = "st4000nm0033"         # simdisk, vm: one of `fsgreen-simdisk disks`, or a file like theirs
queue_depth = 32              # simdisk, block: commands that the disk takes at once
write = "back"                # simdisk, vm: what its cache does with writes, back or through
clock = "real"                # simdisk: `instant` for a disk that takes no time; vm: kvm or tcg
drive = "virtio"              # vm: what the guest has for a disk: virtio, nvme or null
drive_mib_s = 500             # vm: what the guest's disk lets through in a second, in MiB
drive_iops = 20000            # vm: and in requests
drive_zone_mib = 64           # vm, nvme or null: a zoned disk, with zones of so many MiB
guest_memory_mib = 1024       # vm: the memory of the guest
guest_dirty_mib = 32          # vm: how much of its page cache may wait to be written

[host]                        # for the time of the campaign: docs/host.md
apply = ["governor", "turbo", "scheduler=none"]
disks = ["sda"]

[[meter]]
name = "system"
driver = "wattsup"
port = "/dev/serial/by-id/usb-FTDI_..."
boundary = "wall"
covers = ["server"]
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, field_validator, model_validator

from fsgreen import schema, testbeds
from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.core.registry import check_table
from fsgreen.schema import Count, Declared, taking
from fsgreen.testbeds import Disk, GuestAsked, ListedDisk

BY_ID = Path("/dev/disk/by-id")


def _kinds() -> list[str]:
    return ["auto", *testbeds.kinds()]


PathText = Annotated[
    Path,
    taking("a text", lambda x: isinstance(x, str | Path)),
    AfterValidator(lambda path: Path(path)),
]


ZoneMib = Annotated[
    int,
    taking("a power of two from 4 on", lambda x: type(x) is int and x >= 4 and not x & (x - 1)),
]
"""Sizes of zones that the kernel and btrfs accept, in MiB."""

OF_GUESTS = (
    "drive",
    "drive_mib_s",
    "drive_iops",
    "drive_zone_mib",
    "guest_memory_mib",
    "guest_dirty_mib",
)
"""Keys that only a virtual machine takes."""


class TestbedTable(Declared):
    """The table [testbed]."""

    kind: str = "auto"
    folder: PathText | None = None
    in_memory: StrictBool = False
    pulses: StrictBool = False
    device: PathText | None = None
    serial: str | None = Field(default=None, min_length=1)
    partition: Count | None = None
    disk: str | None = None
    queue_depth: Count | None = None
    write: Literal["back", "through"] | None = None
    clock: Literal["real", "instant", "kvm", "tcg"] | None = None
    drive: Literal["virtio", "nvme", "null"] | None = None
    drive_mib_s: Count | None = None
    drive_iops: Count | None = None
    drive_zone_mib: ZoneMib | None = None
    guest_memory_mib: Count | None = None
    guest_dirty_mib: Count | None = None

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in _kinds():
            raise ValueError(unknown("testbed", kind, _kinds()).what)
        return kind

    @field_validator("device")
    @classmethod
    def _by_id(cls, device: Path | None) -> Path | None:
        if device is not None and device.parent != BY_ID:
            raise ValueError(
                f"device is a name in {BY_ID}, which stays with the disk, not {device}"
            )
        return device

    @property
    def is_guest(self) -> bool:
        """Whether it is a virtual machine."""
        return self.kind == "vm"

    @model_validator(mode="after")
    def _device_of_block(self) -> TestbedTable:
        if self.kind != "block" and (self.device or self.serial or self.partition):
            raise ValueError('device, serial and partition are for kind = "block"')
        return self

    @model_validator(mode="after")
    def _clock_of_kind(self) -> TestbedTable:
        of_guest = self.clock in ("kvm", "tcg")
        if self.clock is not None and of_guest != self.is_guest:
            raise ValueError('clock is real or instant for a disk, kvm or tcg for kind = "vm"')
        for name in OF_GUESTS:
            if not self.is_guest and getattr(self, name) is not None:
                raise ValueError(f'{name} is for kind = "vm"')
        limited = self.drive_mib_s is not None or self.drive_iops is not None
        if limited and (self.drive == "null" or self.disk is not None):
            raise ValueError("drive_mib_s and drive_iops limit an image: leave drive and disk out")
        if self.drive_zone_mib is not None and self.drive not in ("nvme", "null"):
            raise ValueError('drive_zone_mib is for drive = "nvme" or "null"')
        return self


class HostTable(Declared):
    """The table [host]."""

    apply: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(table, dict) for table in value)


class Tables(Declared):
    """A whole testbed file. The driver of each meter declares the keys of its table."""

    testbed: TestbedTable = TestbedTable()
    host: HostTable = HostTable()
    meter: Annotated[
        tuple[dict[str, Any], ...],
        taking("tables that each begin with [[meter]], in two brackets", _are_tables),
    ] = ()


class TestbedFile(TestbedTable):
    """The content of a testbed file. The defaults hold for a machine without such a file."""

    meters: tuple[dict[str, Any], ...] = ()
    settings: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()

    def over(
        self,
        *,
        folder: Path | None,
        in_memory: bool,
        disk: str | None = None,
        queue_depth: int | None = None,
    ) -> TestbedFile:
        """Return the same with the values of the command line in place of those of the file.

        Raises FsgreenError if `queue_depth` is below 1.
        """
        if queue_depth is not None and queue_depth < 1:
            raise FsgreenError(
                f"queue_depth is {queue_depth}, not a whole number from 1 on",
                where="--queue-depth",
                next_step="docs/measuring.md",
            )
        asked = _said(folder=folder, disk=disk, queue_depth=queue_depth)
        return self.model_copy(update={**asked, "in_memory": in_memory or self.in_memory})

    def simulated(self, name: str | None) -> Disk | None:
        """Return the disk to simulate; None if neither `name` nor the file asks for one."""
        clock = None if self.is_guest else self.clock
        asked = _said(name=name, write=self.write, clock=clock)
        return Disk(**asked) if asked else None

    def guest(self) -> GuestAsked | None:
        """Return the settings of the guest; None if the testbed is no virtual machine."""
        if not self.is_guest:
            return None
        asked = _said(
            clock=self.clock,
            drive=self.drive,
            memory_mib=self.guest_memory_mib,
            dirty_mib=self.guest_dirty_mib,
            drive_mib_s=self.drive_mib_s,
            drive_iops=self.drive_iops,
            drive_zone_mib=self.drive_zone_mib,
        )
        return GuestAsked(**asked)

    def listed(self) -> ListedDisk | None:
        """Return the real disk to format; None if the file names none."""
        return None if self.device is None else ListedDisk(self.device, self.serial)


def _said(**asked: Any) -> dict[str, Any]:
    """Return the settings that are not None."""
    return {key: value for key, value in asked.items() if value is not None}


def read(choice: str) -> TestbedFile:
    """Return the testbed of a kind (`loop`) or of a file (`lab.toml`).

    Raises FsgreenError if `choice` is neither, or the file is not a testbed file.
    """
    if not choice.endswith(".toml"):
        if choice not in _kinds():
            raise unknown("testbed", choice, _kinds(), next_step="fsgreen doctor")
        return TestbedFile(kind=choice)
    document = schema.read(Path(choice), "testbed file", "docs/measuring.md shows one")
    tables = document.as_(Tables)
    for nth, _ in enumerate(tables.meter):
        check_table(document, ("meter", nth))
    return TestbedFile(
        **tables.testbed.model_dump(),
        meters=tables.meter,
        settings=tables.host.apply,
        disks=tables.host.disks,
    )
