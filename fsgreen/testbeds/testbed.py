"""A testbed: a device, and the stack on it that gives a workload its directory."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from fsgreen import commands
from fsgreen.devices.base import Device, LosesStates
from fsgreen.devices.frequencies import Frequencies
from fsgreen.devices.names import Levels
from fsgreen.simdisk import Control
from fsgreen.stacks.base import DISK, KeepsCopies, Mount, Stack


class Testbed:
    """Where trials run. Every method may be called again, in any order, without harm.

    `kind` is its name among the kinds of testbed. The device has sectors, a queue and a scheduler,
    and the stack makes a directory of it. `why` this testbed was chosen, and the `folder` that was
    asked for, are for the record.
    """

    def __init__(
        self,
        kind: str,
        device: Device,
        stack: Stack,
        why: str = "asked for",
        folder: Path | None = None,
    ) -> None:
        self.device = device
        self.stack = stack
        self.kind = kind
        self._why = why
        self._folder = folder
        self._frequencies = Frequencies(device.work.path)

    def describe(self) -> dict[str, Any]:
        """Return what the testbed is, for the record; `why` says why it was chosen."""
        about = {"kind": self.kind, "why": self._why}
        about |= {} if self._folder is None else {"folder": str(self._folder)}
        return {**about, **self.device.describe(), **self.stack.describe()}

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if a cell of these levels cannot run here. Touches nothing."""
        self.device.check(levels)
        self.stack.check(levels)
        self._frequencies.check(levels)

    def load(self, levels: Levels) -> None:
        """Bring device and processors to these levels, at rest: nothing is mounted."""
        self.stack.unmount()
        self._frequencies.load(levels)
        self.device.load(levels)

    def prepare(self, levels: Levels, *, seed: int = 0) -> Mount:
        """Bring the device into its state, then make, mount and verify the file system, anew.

        A simulated disk takes no time from then on until `remount`.

        `levels` are those of the cell: `file_system` and `option`, and what is asked of the device.
        `seed` is that of the ager. One image is aged for each file system, option and seed, and put
        back for each trial until another seed is asked for: trials of a cell in a row share an
        image if they share the seed. Raises FsgreenError if the cell cannot run here, or what was
        made is not what was asked for.
        """
        self.check(levels)
        self.load(levels)
        with self.device.untimed(stay=True):
            return self.stack.prepare(levels, seed)

    def remount(self) -> Mount:
        """Return the same file system with a cold cache, the data kept."""
        with self.device.untimed():
            return self.stack.remount()

    def resident_share(self) -> float:
        """Measure the share of the bytes of all files in the page cache; see `Stack`."""
        with self.device.untimed():
            return self.stack.resident_share()

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""
        with self.device.untimed():
            return self.stack.warm()

    def rest(self) -> None:
        """Put to sleep what the work of a trial does not need; raises `FsgreenError`."""
        if isinstance(self.stack, KeepsCopies):
            self.stack.rest()

    def lacking(self) -> str | None:
        """Bring all copies of the files up; return what one lacks, None where none does.

        A file system that a program serves is not mounted any more then.
        """
        with self.device.untimed():
            return self.stack.lacking() if isinstance(self.stack, KeepsCopies) else None

    def require_states(self) -> None:
        """Raise `TrialFailed` if device or processors lost a state that the cell has set."""
        self._frequencies.now_khz()
        if isinstance(self.device, LosesStates):
            self.device.require_states()

    def cpu_max_khz(self) -> int | None:
        """Return the highest frequency of the processors; None if no cell has named one yet.

        Raises `TrialFailed` if it is not as it was set.
        """
        return self._frequencies.now_khz()

    def devices(self) -> Mapping[str, Device]:
        """Return all devices in use, by what they are to the cell: `disk` is the testbed's own."""
        beside = self.stack.beside() if isinstance(self.stack, KeepsCopies) else {}
        return {DISK: self.device, **beside}

    def simulator(self) -> Control | None:
        """Return the control socket of the simulated disk, None where the disk is real."""
        return self.device.simulator()

    def simulators(self) -> dict[str, Control]:
        """Return the control sockets of all simulated disks in use, by what they are to the cell.

        Raises `FsgreenError` while one is being started.
        """
        found = {role: device.simulator() for role, device in self.devices().items()}
        return {role: control for role, control in found.items() if control is not None}

    def entered(self) -> AbstractContextManager[None]:
        """Run programs where the directory is: on this machine, or in the guest of a device."""
        return self.device.entered()

    def processor_s(self) -> tuple[float, float] | None:
        """Return the processor seconds of the guest, None where workloads run on this machine."""
        return self.device.processor_s()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the place behaves by itself, for the confound checks; takes seconds."""
        return self.device.probe(seed)

    def only_file_system(self) -> str | None:
        """Return the one file system that can be measured here, None where any can be made."""
        return self.stack.only_file_system()

    def device_name(self) -> str | None:
        """Return the kernel's name of the disk in /proc/diskstats (`loop3`), None without one."""
        return self.device.name

    def counters(self) -> dict[str, float] | None:
        """Return the counters of a disk that `device_name` does not name; see `Device`."""
        return self.device.counters()

    def restore(self) -> None:
        """Unmount and give device and processors back the state they had before `prepare`."""
        if self._is_open():
            try:
                with self.device.untimed():
                    self.stack.unmount()
                self.device.restore()
            finally:
                self._frequencies.restore()

    def close(self) -> None:
        """Remove everything that the testbed made; what is in use is unmounted lazily."""
        if self._is_open():
            with commands.uninterrupted():
                self.device.work.end_servers()
                self.device.close()
                self.device.work.release()

    def _is_open(self) -> bool:
        return self.device.work.lock_fd >= 0

    def __enter__(self) -> Testbed:
        """Return the testbed itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the testbed."""
        self.close()
