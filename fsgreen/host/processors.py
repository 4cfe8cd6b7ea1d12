"""Settings of the processors: frequency governor, turbo, and SMT."""

from __future__ import annotations

from collections.abc import Sequence

from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.host.base import OfMachine, OneFile, Target, read_only, write_file

CPU = machine.CPU
SMT = f"{CPU}/smt/control"
SWITCH = ("on", "off")


class Governor(OfMachine, OneFile):
    """Who chooses the frequency of a group of cores (cpufreq policy)."""

    name = "governor"
    summary = "a governor that saves power answers each load with another frequency"
    wanted: str | None = "performance"

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return one target for each policy (`policy0`)."""
        policies = tree.folders(f"{CPU}/cpufreq", "scaling_governor")
        if not policies:
            return [Target("", None, "the kernel controls no frequency here (a virtual machine?)")]
        return [Target(policy, self.read(tree, policy), read_only(tree)) for policy in policies]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse a governor that the kernel does not offer."""
        offered = tree.choices(f"{CPU}/cpufreq/{target}/scaling_available_governors")
        return "" if value in offered else f"there is no '{value}', only {', '.join(offered)}"

    def file(self, target: str) -> str:
        """Return the file of a policy."""
        return f"{CPU}/cpufreq/{target}/scaling_governor"


class Turbo(OfMachine):
    """Frequencies above the nominal one, for as long as the processor is cool."""

    name = "turbo"
    summary = "with turbo the speed depends on temperature and on what other cores do"
    wanted: str | None = "off"

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the one switch: of intel_pstate, or of cpufreq."""
        for switch in machine.TURBO:
            if tree.path(f"{CPU}/{switch}").exists():
                return [Target(switch, self.read(tree, switch), read_only(tree))]
        return [Target("", None, f"there is neither {' nor '.join(machine.TURBO)}")]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse what is neither on nor off."""
        return _only_a_switch(value)

    def read(self, tree: Tree, target: str) -> str | None:
        """Return `on` or `off`."""
        text = tree.text(f"{CPU}/{target}")
        if target not in machine.TURBO or text not in ("0", "1"):
            return None
        return "on" if text == machine.TURBO[target] else "off"

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Switch turbo; refused by machines whose firmware has it locked."""
        write_file(tree, f"{CPU}/{target}", self._digit(target, value))

    def by_hand(self, target: str, value: str) -> str:
        """Return a line for a shell of root."""
        return f"echo {self._digit(target, value)} > /{CPU}/{target}"

    def _digit(self, target: str, value: str) -> str:
        on = machine.TURBO[target]
        return on if value == "on" else str(1 - int(on))


class Smt(OfMachine, OneFile):
    """Two threads on one core (simultaneous multithreading, hyper-threading)."""

    name = "smt"
    summary = "with SMT a thread's speed depends on what runs beside it on the same core"
    wanted: str | None = "off"

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the kernel's one switch."""
        now = self.read(tree, "smt")
        if now is None:
            return [Target("", None, "this kernel has no switch for it")]
        return [Target("smt", now, read_only(tree))]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse what cannot be put back: `on` would also wake cores that were off before."""
        if tree.text(SMT) in ("forceoff", "notsupported", "notimplemented"):
            return f"the kernel says '{tree.text(SMT)}'"
        offline = tree.text(f"{CPU}/offline")
        if offline:
            return f"cores {offline} are offline; putting SMT back would switch them on too"
        return _only_a_switch(value)

    def read(self, tree: Tree, target: str) -> str | None:
        """Return `on` or `off`; a processor that has no SMT is `off`."""
        text = tree.text(SMT)
        return text if text in (None, "on") else "off"

    def file(self, target: str) -> str:
        """Return the one file."""
        return SMT


def _only_a_switch(value: str) -> str:
    return "" if value in SWITCH else f"'{value}' is neither on nor off"
