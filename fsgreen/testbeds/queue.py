"""The request queue of a disk: scheduler, depth and read-ahead (sysfs-block(5) queue/)."""

from __future__ import annotations

import re
from pathlib import Path

from fsgreen.errors import FsgreenError, unknown


class Queue:
    """The queue of one whole disk, by its kernel name (`loop3`)."""

    def __init__(self, device_name: str) -> None:
        self.name = device_name
        self.folder = Path("/sys/block") / device_name / "queue"

    def schedulers(self) -> list[str]:
        """Return the schedulers that the kernel offers for this disk."""
        return re.findall(r"[\w-]+", (self.folder / "scheduler").read_text())

    @property
    def scheduler(self) -> str | None:
        """The scheduler in use, None where the disk has no choice."""
        match = re.search(r"\[([\w-]+)\]", (self.folder / "scheduler").read_text())
        return match[1] if match else None

    def set_scheduler(self, name: str) -> None:
        """Set the scheduler and read it back; raises `FsgreenError` if it does not hold."""
        if name not in self.schedulers():
            raise unknown(
                "scheduler", name, self.schedulers(), where=self.name, next_step=f"modprobe {name}"
            )
        if self.scheduler != name:
            (self.folder / "scheduler").write_text(name)
        if self.scheduler != name:
            raise FsgreenError(
                f"the scheduler is {self.scheduler} although {name} was set",
                where=self.name,
                next_step=f"cat {self.folder}/scheduler",
            )

    def number(self, name: str) -> int:
        """Return a numeric attribute (`nr_requests`, `read_ahead_kb`, `logical_block_size`)."""
        return int((self.folder / name).read_text())
