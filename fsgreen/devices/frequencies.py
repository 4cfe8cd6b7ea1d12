"""The highest frequency of the processors, which a study declares as a factor: set for a cell, and
put back afterwards.

The kernel documents it in Documentation/admin-guide/pm/cpufreq.rst. A group of processors that
share a frequency is a policy.
"""

from __future__ import annotations

import os
from pathlib import Path

from fsgreen.audit.machine import CPU
from fsgreen.audit.tree import HERE, Tree
from fsgreen.devices import kept
from fsgreen.devices.names import CPU_MAX_KHZ, Levels
from fsgreen.errors import FsgreenError, TrialFailed

KEPT = "cpufreq.json"
"""The file of a work folder that keeps what was found before the first cell that names a level."""

POLICIES = "cpufreq"
MOST = "scaling_max_freq"


class Frequencies:
    """The processors of this machine, whose highest frequency cells may name, in kHz.

    What was found is kept in the work folder `folder` before anything is set. `tree` has the files
    of the kernel.
    """

    def __init__(self, folder: Path, tree: Tree = HERE) -> None:
        self._folder, self._tree = folder, tree
        self._found: dict[str, int] = {}
        self._asked: dict[str, int] = {}

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the processors cannot have the level. It changes nothing."""
        level = levels.get(CPU_MAX_KHZ)
        obstacle = "" if level is None else self._obstacle(level)
        if obstacle:
            raise FsgreenError(
                f"{CPU_MAX_KHZ}: {level} cannot be set: {obstacle}",
                where=self._tree.path(f"{CPU}/{POLICIES}"),
                next_step=f"another level in the study, or leave {CPU_MAX_KHZ} out (docs/ssd.md)",
            )

    def load(self, levels: Levels) -> None:
        """Set the level; without one, what earlier cells have set becomes as it was found.

        A policy whose own highest frequency is lower gets that.

        Raises FsgreenError if the kernel refuses, and TrialFailed if it has another value
        afterwards, as where heat lowers it.
        """
        level = levels.get(CPU_MAX_KHZ)
        if level is not None and not self._found:
            found = {policy: self._get(policy) for policy in self._policies()}
            kept.keep(self._folder / KEPT, POLICIES, found, self._tree)
            self._found = found
        for policy, found_khz in self._found.items():
            most_khz = found_khz if level is None else min(int(level), self._highest(policy))
            self._asked[policy] = most_khz
            self.set(policy, most_khz)
        if level is not None:
            self.now_khz()

    def now_khz(self) -> int | None:
        """Return the highest frequency of all; None if no cell has named a level yet.

        Raises TrialFailed if a policy is not as it was set.
        """
        for policy, asked_khz in self._asked.items():
            now_khz = self._tree.number(_file(policy, MOST))
            if now_khz != asked_khz:
                raise TrialFailed(
                    f"the highest frequency of {policy} is {now_khz or 'not known'} although "
                    f"{asked_khz} kHz were set: the kernel or another program lowers it, or the "
                    "machine slept",
                    where=self._tree.path(_file(policy, MOST)),
                    next_step="the trial runs again; dmesg | tail tells of heat; a driver that "
                    "rounds takes what scaling_available_frequencies beside it lists",
                )
        return max(self._asked.values(), default=None)

    def restore(self) -> None:
        """Set everything as it was found."""
        self.load({})

    def set(self, policy: str, most_khz: int) -> bool:
        """Set a policy; return whether it was otherwise. Raises FsgreenError if that is refused."""
        if self._get(policy) == most_khz:
            return False
        file = self._tree.path(_file(policy, MOST))
        try:
            file.write_text(f"{most_khz}\n")
        except OSError as error:
            raise FsgreenError(
                f"the kernel refused {most_khz} kHz: {error.strerror}",
                where=file,
                next_step="dmesg | tail; in a container, measure on the host",
            ) from error
        return True

    def _get(self, policy: str) -> int:
        now_khz = self._tree.number(_file(policy, MOST))
        if now_khz is None:
            raise FsgreenError(
                "the kernel tells no highest frequency",
                where=self._tree.path(_file(policy, MOST)),
                next_step="a processor that was switched off has none: switch it on again "
                "(lscpu --extended)",
            )
        return now_khz

    def _policies(self) -> list[str]:
        return self._tree.folders(f"{CPU}/{POLICIES}", MOST)

    def _highest(self, policy: str) -> int:
        return self._tree.number(_file(policy, "cpuinfo_max_freq")) or self._get(policy)

    def _obstacle(self, level: object) -> str:
        """Return why a level cannot be set; empty if it can."""
        policies = self._policies()
        if not policies:
            return "the kernel controls no frequency here (a virtual machine?)"
        if type(level) is not int or level < 1:
            return "it is no whole number of kHz"
        for policy in policies:
            if self._tree.number(_file(policy, MOST)) is None:
                return f"{policy} has no frequency: its processor is off (lscpu --extended)"
            if not os.access(self._tree.path(_file(policy, MOST)), os.W_OK):
                return f"{MOST} cannot be written: only root may, and not in a container"
        lows = ("cpuinfo_min_freq", "scaling_min_freq")
        lowest_khz = max(
            self._tree.number(_file(policy, name)) or 0 for policy in policies for name in lows
        )
        highest_khz = max(map(self._highest, policies))
        if lowest_khz <= level <= highest_khz:
            return ""
        return f"these processors take {lowest_khz} to {highest_khz} kHz"


def put_back(folder: Path, tree: Tree = HERE) -> list[str]:
    """Set the processors as `Frequencies` of a work folder found them; see `kept.put_back`."""
    policies = tree.folders(f"{CPU}/{POLICIES}", MOST)
    return kept.put_back(
        folder / KEPT,
        {policy: f"the highest frequency, {{}} kHz, of {policy}" for policy in policies},
        lambda _, policy, khz: Frequencies(folder, tree).set(policy, int(khz)),
        tree,
        below=CPU,
    )


def _file(policy: str, name: str) -> str:
    return f"{CPU}/{POLICIES}/{policy}/{name}"
