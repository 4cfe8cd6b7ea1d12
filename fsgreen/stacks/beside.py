"""Flash and a remote beside the disk of a testbed: separate devices, opened when a cell needs them.

Flash is a simulated disk, or an image in RAM, whose time is not modelled. The remote is an image in
RAM. Each has its own work folder, which a later start finds if the harness is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from fsgreen.devices.base import FormattableDevice, Settings
from fsgreen.devices.loop import LoopDevice
from fsgreen.devices.names import FLASH, OF_DISKS, TRAFFIC, Levels
from fsgreen.devices.simdisk import SimulatedDevice
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Disk, parameters
from fsgreen.stacks.aging import ager
from fsgreen.stacks.base import REMOTE
from fsgreen.stacks.ondevice import OnDevice

IN_RAM = "memory"
"""The level of flash that is an image in RAM."""


class Beside:
    """The devices beside a disk. Every method may be called again, in any order, without harm.

    Each device beside the testbed's disk has the size of its volume. `aging` has the settings of
    aged file systems. `end` ends what is served from these devices; it is called before one of them
    is removed. `flash` and `remote` are the devices of the cell that was loaded last.
    """

    def __init__(self, disk: FormattableDevice, aging: ager.Aging, end: Callable[[], None]) -> None:
        self._disk, self._aging, self._end = disk, aging, end
        self._open: dict[str, OnDevice] = {}
        self.flash: OnDevice | None = None
        self.remote: OnDevice | None = None

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the flash of a cell is not possible beside this disk."""
        name, where = levels.get(FLASH), f"testbed {self._disk.kind}"
        if name is None:
            return
        if levels.get(TRAFFIC) is not None:
            raise FsgreenError(
                f"the traffic to flash cannot be bounded: the cell asks for {levels[TRAFFIC]:g} "
                "MiB/s",
                where=where,
                next_step=f"leave {TRAFFIC} or {FLASH} out of the cell",
            )
        if name != IN_RAM:
            parameters(name)
            if self._disk.simulator() is None:
                raise FsgreenError(
                    f"a simulated flash ({name}) beside a disk that is not simulated: nothing "
                    "would watch whether it keeps its time",
                    where=where,
                    next_step=f"{FLASH}: {IN_RAM} in the study, or --testbed simdisk",
                )

    def load(self, levels: Levels, *, with_remote: bool) -> None:
        """Open the flash of these levels, and a remote, at rest; neither if they name no flash.

        Raises FsgreenError if one cannot be opened, for example because memory is short.
        """
        self.flash = self.remote = None
        name = levels.get(FLASH)
        if name is None:
            return
        asked = {factor: level for factor, level in levels.items() if factor not in OF_DISKS}
        self.flash = self._loaded(name, asked if name == IN_RAM else {**asked, "disk": name})
        if with_remote:
            self.remote = self._loaded(REMOTE, {})

    def in_use(self) -> Mapping[str, FormattableDevice]:
        """Return the devices of the cell that was loaded last, by role."""
        used = {FLASH: self.flash, REMOTE: self.remote}
        return {role: on.device for role, on in used.items() if on is not None}

    @contextmanager
    def untimed(self, *, stay: bool = False) -> Iterator[None]:
        """Let a simulated flash take no time in the `with` block, as `Device.untimed`."""
        with ExitStack() as until:
            for device in self.in_use().values():
                until.enter_context(device.untimed(stay=stay))
            yield

    def unmount(self) -> None:
        """Unmount all of them."""
        for on in self._open.values():
            on.unmount()

    def close(self) -> None:
        """Remove all of them. Mounts in use are unmounted lazily."""
        self.flash = self.remote = None
        while self._open:
            _, on = self._open.popitem()
            on.device.close()
            on.device.work.release()

    def _loaded(self, name: str, levels: Levels) -> OnDevice:
        if name not in self._open:
            self._open[name] = OnDevice(self._opened(name), self._aging)
        on = self._open[name]
        on.device.check(levels)
        on.device.load(levels)
        return on

    def _opened(self, name: str) -> FormattableDevice:
        size_b = self._disk.volume.size_b
        device: FormattableDevice
        if name in (IN_RAM, REMOTE):
            device = LoopDevice(Settings(size_b, in_memory=True))
        else:
            device = SimulatedDevice(Settings(size_b, simulated=Disk(name)))
        device.work.ends.append(self._end)
        return device
