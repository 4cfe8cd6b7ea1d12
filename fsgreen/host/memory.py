"""Settings of the memory: how much of the page cache may wait to be written, and swap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fsgreen import commands
from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.host.base import OfMachine, Target, read_only, write_file

TARGET = "dirty"

ON = "on"
WITH_PRIORITY = "on, priority "


class Dirty(OfMachine):
    """The limit of dirty pages; who writes beyond it waits for the disk.

    The kernel keeps bytes or a percentage of the free memory, whichever was written last, and shows
    0 for the other (sysctl vm: dirty_bytes, dirty_ratio). Where writing in the background would
    begin later than at this limit, it begins at half of it.
    """

    name = "dirty"
    summary = "a short trial writes into memory what a long one must write to the disk"
    wanted: str | None = None

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the kernel's one limit."""
        now = self.read(tree, TARGET)
        if now is None:
            return [Target("", None, "this kernel shows no limit of dirty pages")]
        return [Target(TARGET, now, read_only(tree))]

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


class Area(NamedTuple):
    """A line of /proc/swaps; names with blanks are escaped as the kernel writes them."""

    name: str
    priority: int


def areas(text: str) -> list[Area]:
    """Return the areas in a text of /proc/swaps; lines of another form are left out."""
    listed = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) == 5 and fields[4].removeprefix("-").isdecimal():
            listed.append(Area(fields[0], int(fields[4])))
    return listed


class Swap(OfMachine):
    """Swap areas that are on, each by its file or device."""

    name = "swap"
    summary = "memory that is swapped out makes a trial wait for the disk"
    wanted: str | None = "off"

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the areas, the least preferred first, so that they come back in their order."""
        text = tree.text("proc/swaps")
        if text is None:
            return [Target("", None, "/proc/swaps cannot be read")]
        in_order = sorted(areas(text), key=lambda area: area.priority)
        return [Target(area.name, self.read(tree, area.name)) for area in in_order]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse an area that cannot be found again: one with blanks, or whose file is deleted."""
        if value != "off":
            return "swap can only be switched off here"
        return "its name has blanks, or its file is deleted" if "\\" in target else ""

    def read(self, tree: Tree, target: str) -> str | None:
        """Return `off`, `on`, or `on` with the priority that somebody gave it.

        Negative priorities are the kernel's own ranking and cannot be asked for (swapon(8)).
        """
        for area in areas(tree.text("proc/swaps") or ""):
            if area.name == target:
                return f"{WITH_PRIORITY}{area.priority}" if area.priority >= 0 else ON
        return "off"

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Switch an area off, or on as it was."""
        commands.run(self._command(target, value), lock_fd=lock_fd, next_step="free -h; swapon")

    def by_hand(self, target: str, value: str) -> str:
        """Return the call of swapon or swapoff."""
        return " ".join(self._command(target, value))

    def _command(self, target: str, value: str) -> list[str]:
        if value == "off":
            return ["swapoff", target]
        if value == ON:
            return ["swapon", target]
        return ["swapon", "--priority", value.removeprefix(WITH_PRIORITY), target]
