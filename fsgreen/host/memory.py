"""The setting of the page cache: how much of it may wait to be written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.host.base import Found, OfMachine, read_only, write_file

TARGET = "dirty"


class Dirty(OfMachine):
    """The limit of dirty pages; who writes beyond it waits for the disk.

    The kernel keeps bytes or a percentage of the free memory, whichever was written last, and shows
    0 for the other (sysctl vm: dirty_bytes, dirty_ratio). Where writing in the background would
    begin later than at this limit, it begins at half of it.
    """

    name = "dirty"
    summary = "a short trial writes into memory what a long one must write to the disk"
    wanted: str | None = None

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Found]:
        """Return the kernel's one limit."""
        now = self.read(tree, TARGET)
        if now is None:
            return [Found("", None, "this kernel shows no limit of dirty pages")]
        return [Found(TARGET, now, read_only(tree))]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse what is neither bytes (two pages or more) nor a percentage."""
        if re.fullmatch(r"[1-9][0-9]?%|100%|[1-9][0-9]{4,15}", value):
            return ""
        return f"'{value}' is neither a number of bytes, 10000 or more, nor a percentage as 20%"

    def read(self, tree: Tree, target: str) -> str | None:
        """Return bytes, or a percentage with its sign."""
        return machine.dirty_limit(tree)

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Set the limit."""
        name, number = _file(value)
        write_file(tree, f"{machine.VM}/{name}", number)

    def by_hand(self, target: str, value: str) -> str:
        """Return a line for a shell of root."""
        name, number = _file(value)
        return f"sysctl vm.{name}={number}"


def _file(value: str) -> tuple[str, str]:
    """Return the kernel's file for such a value, and what it takes."""
    return ("dirty_ratio", value[:-1]) if value.endswith("%") else ("dirty_bytes", value)
