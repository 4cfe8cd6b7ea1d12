"""Flash and a remote beside the disk of a testbed: devices of their own, opened once a cell asks.

Flash is an image in RAM, whose time nothing models, or a simulated disk; the remote is an image in
RAM. Each has a work folder of its own, which a later start finds if the harness is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from fsgreen.devices.base import (
    FLASH,
    OF_DISKS,
    TRAFFIC,
    FormattableDevice,
    Levels,
    Settings,
)
from fsgreen.devices.loop import LoopDevice
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

    Parameters
    ----------
    disk : FormattableDevice
        That of the testbed; each one beside it is as large as what a file system gets of it.
    aging : Aging
        What an aged file system is to be.
    end : callable
        Ends what is served from these devices; it is called before one of them goes.

    Attributes
    ----------
    flash, remote : OnDevice or None
        Those of the cell that was loaded last.
    """

    def __init__(self, disk: FormattableDevice, aging: ager.Aging, end: Callable[[], None]) -> None:
        self._disk, self._aging, self._end = disk, aging, end
        self._open: dict[str, OnDevice] = {}
        self.flash: OnDevice | None = None
        self.remote: OnDevice | None = None

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the flash of a cell cannot be had beside this disk."""
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
        """Bring the flash of these levels, and a remote, at rest; neither where none is named.

        Raises
        ------
        FsgreenError
            If one cannot be had, as where memory is short.
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
        """Return the devices of the cell that was loaded last, by what they are to it."""
        used = {FLASH: self.flash, REMOTE: self.remote}
        return {role: on.device for role, on in used.items() if on is not None}

    @contextmanager
    def untimed(self, *, stay: bool = False) -> Iterator[None]:
        """Let a simulated flash take no time meanwhile; as `untimed` of a device."""
        with ExitStack() as until:
            for device in self.in_use().values():
                until.enter_context(device.untimed(stay=stay))
            yield

    def unmount(self) -> None:
        """Unmount what is mounted of them."""
        for on in self._open.values():
            on.unmount()

    def close(self) -> None:
        """Remove all of them; what is in use is unmounted lazily."""
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
