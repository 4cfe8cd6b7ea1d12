"""The sectors that a file system gets: overwritten and formatted only through the device guard."""

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
    """A state that a device was brought into before a trial, and the counters that show it.

    Attributes
    ----------
    name : str
        One of the levels of the factor `device`.
    written_b : int
        Bytes written to the device meanwhile, as the kernel counted them, mkfs not included.
    discarded_b : int
        Bytes discarded meanwhile on the disk below; 0 where none takes discards.
    size_b : int
        Bytes of the device, which each of both must reach where the disk was made to forget.
    left : str or None
        Why the disk below was not made to forget what was written before, None where it was, and
        where an aged image was put back.
    remembers : bool or None
        Whether the state thus rests on what trials before wrote, None where nobody can tell.
    """

    name: str
    written_b: int
    discarded_b: int
    size_b: int
    left: str | None = None
    remembers: bool | None = False


class Volume(ABC):
    """A block device that is ours to overwrite, and stays what its node names until `close`.

    Each kind of device makes its initial state.

    Parameters
    ----------
    node : Path
        The block device (`/dev/loop3`).
    proof : Path or guard.ListedDisk
        What shows the guard that it is ours.
    size_b : int
        Its size in bytes, a multiple of 4 MiB.
    lock_fd : int
        The owner lock of the work folder.
    """

    def __init__(self, node: Path, proof: guard.Proof, size_b: int, lock_fd: int) -> None:
        self.node = node
        self.size_b = size_b
        self.queue = Queue(blockdev.disk_of(node.name))
        self._proof = proof
        self._lock_fd = lock_fd
        self._bound_fd = guard.bind(node, proof)

    def close(self) -> None:
        """Let the node name another device, or a loop device have another file."""
        if self._bound_fd >= 0:
            os.close(self._bound_fd)
            self._bound_fd = -1

    @abstractmethod
    def initial(self) -> DeviceState:
        """Bring the device, which is not mounted, into its initial state."""

    def steady(self) -> DeviceState:
        """Bring the device into its initial state, then write it in full once more."""
        initial = self.initial()
        written_b = initial.written_b + self.fill()
        return replace(initial, name="steady", written_b=written_b, remembers=False)

    def hold(self) -> None:  # noqa: B027 (few have others to fear)
        """Keep others from the device while nothing of it is mounted, where that is possible."""

    def release(self) -> None:  # noqa: B027
        """Let go of the device, so that it can be mounted."""

    def format(self, command: Sequence[str]) -> tuple[str, ...]:
        """Run mkfs, named without the device; return the whole command as it ran."""
        return guard.run_mkfs(command, self.node, self._proof, lock_fd=self._lock_fd)

    @contextmanager
    def overwriting(self) -> Iterator[int]:
        """Yield a descriptor for direct reads and writes, which nobody else has."""
        fd = guard.open_to_overwrite(self.node, self._proof)
        try:
            yield fd
        finally:
            os.close(fd)

    def fill(self) -> int:
        """Write all of it once; return the bytes written, as `require_written` does."""
        before_b = self.queue.written_b()
        with self.overwriting() as fd:
            image.fill(fd, self.size_b)
        return self.require_written(before_b)

    def require_written(self, since_b: int) -> int:
        """Return the bytes written since the counter stood at `since_b`.

        Raises
        ------
        FsgreenError
            If they are fewer than the device has.
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
    """Return why a disk cannot be made to forget, and whether it remembers; None where it can."""
    if queue.number("rotational"):
        return ROTATING, False
    if not queue.number("discard_max_bytes"):
        return f"not restored: {queue.name} takes no discards", True
    return None
