"""The factors of an NVMe drive, which a study declares: set for a cell, and put back afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.audit.tree import HERE, Tree
from fsgreen.devices import kept
from fsgreen.devices.names import OF_NVME, POWER_STATE, Levels
from fsgreen.devices.nvme import NO_APST, NO_DRIVE, Drive
from fsgreen.errors import FsgreenError, TrialFailed

KEPT = "nvme.json"
"""The file of a work folder that keeps what a drive was set to before its first cell."""

Value = int | str
"""A power state; or a time to wake in us, or the kernel's words for no limit: `any`, `auto`."""


class PowerStates:
    """The drive below a testbed, whose cells may name its power state and its rest.

    Parameters
    ----------
    disk : str
        The kernel's name of the disk (`nvme0n1`). Any other disk than an NVMe drive has no states.
    folder : Path
        The work folder. What was found is written there before anything is set.
    lock_fd : int, optional
        The lock of that folder, which programs inherit.
    tree : Tree
        The files of the kernel.
    """

    def __init__(
        self, disk: str, folder: Path, lock_fd: int | None = None, tree: Tree = HERE
    ) -> None:
        self._disk, self._folder, self._lock_fd, self._tree = disk, folder, lock_fd, tree
        self._drive = Drive(disk, tree)
        self._found: dict[str, Value] = {}
        self._asked: dict[str, Value] = {}

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the drive cannot have the levels."""
        for factor in OF_NVME:
            level = levels.get(factor)
            obstacle = "" if level is None else self._obstacle(factor, level)
            if obstacle:
                raise FsgreenError(
                    f"{factor}: {level} cannot be set: {obstacle}",
                    where=self._disk,
                    next_step=f"another level in the study, or leave {factor} out (docs/ssd.md)",
                )

    def load(self, levels: Levels) -> None:
        """Set what the levels name, and what only earlier cells have named as it was found."""
        for factor in OF_NVME:
            level = levels.get(factor)
            if level is not None and factor not in self._found:
                found = self.get(factor)
                kept.keep(self._folder / KEPT, self._disk, {factor: found}, self._tree)
                self._found[factor] = found
            if factor in self._found:
                self._asked[factor] = self._found[factor] if level is None else level
                self.set(factor, self._asked[factor])

    def now(self) -> dict[str, Value] | None:
        """Return what was set; None if no cell has named anything yet.

        Raises TrialFailed if the drive is not as it was set.
        """
        for factor, asked in self._asked.items():
            now: Value
            try:
                now = self.get(factor)
            except FsgreenError:  # a drive that is being reset does not answer
                now = "not known"
            if now != asked:
                raise TrialFailed(
                    f"{factor} of {self._disk} is {now} although {asked} was set: the drive was "
                    "reset, or the machine slept",
                    where=self._disk,
                    next_step="the trial runs again; dmesg | tail tells of a reset",
                )
        return dict(self._asked) or None

    def restore(self) -> None:
        """Set everything as it was found."""
        self.load({})

    def get(self, factor: str) -> Value:
        """Return the present level of a factor. Raises `FsgreenError` if the drive tells none."""
        now: Value | None
        if factor == POWER_STATE:
            now = self._drive.power_state()
        else:
            now = self._tree.number(self._drive.rest_file)
            if now is None:
                now = self._tree.text(self._drive.rest_file)
        if now is None:
            raise FsgreenError(
                f"the drive tells no {factor}",
                where=self._disk,
                next_step=f"fsgreen host show --disk {self._disk}",
            )
        return now

    def set(self, factor: str, level: Value) -> None:
        """Set a factor and read it back. Raises `FsgreenError` if that fails, or they differ."""
        if factor == POWER_STATE:
            self._drive.set_power_state(int(level), self._lock_fd)
        else:
            try:
                self._tree.path(self._drive.rest_file).write_text(f"{level}\n")
            except OSError as error:
                raise FsgreenError(
                    f"the kernel refused {factor} {level}: {error.strerror}",
                    where=error.filename,
                    next_step="dmesg | tail; in a container, measure on the host",
                ) from error
        if (now := self.get(factor)) != level:
            raise FsgreenError(
                f"{factor} is {now} although {level} was set",
                where=self._disk,
                next_step=f"leave {factor} out of the study",
            )

    def _obstacle(self, factor: str, level: Any) -> str:
        """Return why a level cannot be set; empty if it can."""
        if self._drive.controller == self._disk:
            return NO_DRIVE
        if factor == POWER_STATE:
            return self._drive.lacks_state(str(level))
        if self._tree.text(self._drive.rest_file) is None:
            return NO_APST
        whole = type(level) is int and level >= 0
        return "" if whole else f"'{level}' is no whole number of us"


def put_back(folder: Path, tree: Tree = HERE) -> list[str]:
    """Set the drive of a work folder as `PowerStates` found it; see `kept.put_back`."""

    def put(disk: str, factor: str, value: Any) -> bool:
        states = PowerStates(disk, folder, tree=tree)
        changes = states.get(factor) != value
        if changes:
            states.set(factor, value)
        return changes

    return kept.put_back(folder / KEPT, {name: f"{name} {{}}" for name in OF_NVME}, put, tree)
