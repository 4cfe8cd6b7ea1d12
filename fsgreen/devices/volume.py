"""The sectors of a file system: overwritten and formatted only through the device guard."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fsgreen.devices import blockdev, guard, image
from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError

ROTATING = (
    "no state to restore on a disk that calls itself rotating, as such a disk remembers no writes"
)


@dataclass(frozen=True)
class DeviceState:
    """A state that a device was brought into before a trial, and the counters that show it."""

    name: str
    """A level of the factor `device`."""
    written_b: int
    """Bytes written to the device for that, as the kernel counted them, without mkfs."""
    discarded_b: int
    """Bytes discarded for that on the disk below; 0 if it takes no discards."""
    size_b: int
    """The size of the device. If the disk was restored, the two counts above must reach it."""
    left: str | None = None
    """Why the disk below was not restored; None if it was, or if an aged image was put back."""
    remembers: bool | None = False
    """Whether the state therefore depends on writes of earlier trials; None if unknown."""


class Volume(ABC):
    """A block device that is ours to overwrite. Until `close`, its node names the same device.

    Each kind of device has its own way to make the initial state.

    The proof shows the guard that the device is ours. `size_b` is a multiple of 4 MiB. `lock_fd` is
    the owner lock of the work folder.
    """

    def __init__(self, node: Path, proof: guard.Proof, size_b: int, lock_fd: int) -> None:
        self.node = node
        self.size_b = size_b
        self.queue = Queue(blockdev.disk_of(node.name))
        self._proof = proof
        self._lock_fd = lock_fd
        self._bound_fd = guard.bind(node, proof)

    def close(self) -> None:
        """Release the device: its node may then name another one, or its loop another file."""
        if self._bound_fd >= 0:
            os.close(self._bound_fd)
            self._bound_fd = -1

    @abstractmethod
    def initial(self) -> DeviceState:
        """Bring the device into its initial state. It must not be mounted."""

    def steady(self) -> DeviceState:
        """Bring the device into its initial state, then write all of it once more."""
        initial = self.initial()
        written_b = initial.written_b + self.fill()
        return replace(initial, name="steady", written_b=written_b, remembers=False)

    def hold(self) -> None:  # noqa: B027 (few have others to fear)
        """Lock others out of the device while nothing of it is mounted, if that is possible."""

    def release(self) -> None:  # noqa: B027
        """Release the device, so that it can be mounted."""

    def format(self, command: Sequence[str]) -> tuple[str, ...]:
        """Run mkfs, given as a command without the device; return the whole command as it ran."""
        return guard.run_mkfs(command, self.node, self._proof, lock_fd=self._lock_fd)

    @contextmanager
    def overwriting(self) -> Iterator[int]:
        """Yield an exclusive descriptor for direct reads and writes."""
        fd = guard.open_to_overwrite(self.node, self._proof)
        try:
            yield fd
        finally:
            os.close(fd)

    def fill(self) -> int:
        """Write the whole device once; return the bytes written.

        Raises FsgreenError as `require_written` does.
        """
        before_b = self.queue.written_b()
        with self.overwriting() as fd:
            image.fill(fd, self.size_b)
        return self.require_written(before_b)

    def require_written(self, since_b: int) -> int:
        """Return the bytes written since the counter was `since_b`.

        Raises FsgreenError if they are fewer than the size of the device.
        """
        written_b = self.queue.written_b() - since_b
        if written_b < self.size_b:
            raise FsgreenError(
                f"the kernel counted {written_b} B written of {self.size_b} B",
                where=self.node,
                next_step=f"echo 1 > /sys/block/{self.node.name}/queue/iostats",
            )
        return written_b


def cannot_forget(queue: Queue) -> tuple[str, bool] | None:
    """Return why a disk cannot be restored, and whether it remembers writes; None if it can be."""
    if queue.number("rotational"):
        return ROTATING, False
    if not queue.number("discard_max_bytes"):
        return f"not restored: {queue.name} takes no discards", True
    return None
