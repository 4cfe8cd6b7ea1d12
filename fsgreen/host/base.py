"""What every setting of the machine is: something that can be read, changed and put back."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError


class Target(NamedTuple):
    """One thing that a setting could change here, or why it can change nothing."""

    target: str
    now: str | None
    obstacle: str = ""


class Setting(Protocol):
    """One kind of setting; its targets are the policies, disks, timers ... that have it.

    Attributes
    ----------
    name : str
        As it is typed.
    summary : str
        What it does to a measurement, in one line.
    wanted : str or None
        The value that a measurement wants; None where that is for the study to say.
    of_disks : bool
        Whether the disks must be named.
    """

    name: str
    summary: str
    wanted: str | None
    of_disks: bool

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the targets in the order in which they should be changed."""

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Return why `value` cannot be set, or not be undone afterwards; empty if it can."""

    def read(self, tree: Tree, target: str) -> str | None:
        """Return the value now, None if there is no such target (any more)."""

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Set a value. Raises `FsgreenError`. Programs inherit the lock: see `commands.run`."""

    def identity(self, tree: Tree, target: str) -> str:
        """Return what tells the target from another one of the same name, empty if nothing."""

    def by_hand(self, target: str, value: str) -> str:
        """Return the command with which a user sets it."""


class OfMachine:
    """What the settings of the whole machine have in common."""

    of_disks = False

    def identity(self, tree: Tree, target: str) -> str:
        """Return nothing: until the next boot a name stands for one thing."""
        return ""


class OneFile(ABC):
    """What a setting is that has one file of the kernel for each target, holding its value."""

    @abstractmethod
    def file(self, target: str) -> str:
        """Return the file of a target."""

    def read(self, tree: Tree, target: str) -> str | None:
        """Return the value now, None if there is no such file."""
        return tree.text(self.file(target))

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Set the value."""
        write_file(tree, self.file(target), value)

    def by_hand(self, target: str, value: str) -> str:
        """Return a line for a shell of root."""
        return f"echo {value} > /{self.file(target)}"


def write_file(tree: Tree, name: str, value: str) -> None:
    """Write a value into a file of the kernel.

    Raises FsgreenError if the file is not there, or the kernel refuses the value.
    """
    path = tree.path(name)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{value}\n".encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise FsgreenError(
            f"the kernel refused '{value}': {error.strerror}",
            where=path,
            next_step="dmesg | tail; in a container, set it on the host",
        ) from error


def read_only(tree: Tree) -> str:
    """Return why the kernel's files cannot be written at all, empty if they can."""
    try:
        flags = os.statvfs(tree.path("sys")).f_flag
    except OSError:
        return "there is no /sys here"
    return "/sys is read-only here: in a container, set it on the host" * bool(flags & os.ST_RDONLY)
