"""The setting `swap`: areas to which the kernel may move memory in the middle of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fsgreen import commands
from fsgreen.audit.tree import Tree
from fsgreen.host.base import Found, OfMachine

ON = "on"
WITH_PRIORITY = "on, priority "


class Area(NamedTuple):
    """A line of /proc/swaps; names with blanks are escaped as the kernel writes them."""

    name: str
    priority: int


def areas(text: str) -> list[Area]:
    """Return the areas in a text of /proc/swaps; lines of another form are left out."""
    found = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) == 5 and fields[4].removeprefix("-").isdecimal():
            found.append(Area(fields[0], int(fields[4])))
    return found


class Swap(OfMachine):
    """Swap areas that are on, each by its file or device."""

    name = "swap"
    summary = "memory that is swapped out makes a trial wait for the disk"
    wanted: str | None = "off"

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Found]:
        """Return the areas, the least preferred first, so that they come back in their order."""
        text = tree.text("proc/swaps")
        if text is None:
            return [Found("", None, "/proc/swaps cannot be read")]
        found = sorted(areas(text), key=lambda area: area.priority)
        return [Found(area.name, self.read(tree, area.name)) for area in found]

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
