"""The setting `timers`: units of systemd that start other work by the clock."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

from fsgreen import commands, paths
from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError
from fsgreen.host.base import OfMachine, Target

CLOCKS = ("*.timer", "cron.service", "crond.service", "atd.service", "anacron.service")
"""Patterns of the units: timers, and the daemons that do the same without them."""

NEVER_US = 2**63
"""Times from here on are how systemd writes `never` (USEC_INFINITY is 2**64 - 1)."""

RUNNING, STOPPED = "running", "stopped"
UNIT = re.compile(r"[\w@:.\\-]+\.(timer|service)")


def here(tree: Tree) -> bool:
    """Return whether systemd runs this machine (sd_booted(3))."""
    return tree.path("run/systemd/system").is_dir() and paths.program("systemctl") is not None


def units(text: str) -> list[str]:
    """Return the units that `systemctl list-units --plain --no-legend` printed."""
    first = (line.split()[0] for line in text.splitlines() if line.strip())
    return [word for word in first if UNIT.fullmatch(word)]


def transient(text: str) -> set[str]:
    """Return the units with `Transient=yes` among the blocks that `systemctl show` printed."""
    ids = set()
    for block in text.split("\n\n"):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if values.get("Transient") == "yes" and "Id" in values:
            ids.add(values["Id"])
    return ids


def next_of(text: str) -> tuple[str, float] | None:
    """Return the timer that elapses first and its time since 1970, from list-timers as JSON.

    None where the text is no such list: before version 249, systemd printed it for people only.
    """
    try:
        rows = [(row["next"], row["unit"]) for row in json.loads(text)]
    except (ValueError, TypeError, KeyError):
        return None
    times = [(at, unit) for at, unit in rows if isinstance(at, int) and 0 < at < NEVER_US]
    if not times:
        return None
    at_us, unit = min((at, str(unit)) for at, unit in times)
    return unit, at_us / 1e6


def next_elapse() -> tuple[str, float] | None:
    """Return the timer that elapses next and in how many seconds, None where nobody tells."""
    try:
        text = commands.run(["systemctl", "list-timers", "--output=json", "--no-pager"])
    except FsgreenError:
        return None
    coming = next_of(text)
    return None if coming is None else (coming[0], coming[1] - time.time())


class Timers(OfMachine):
    """Timers and cron, each by its unit."""

    name = "timers"
    summary = "a timer or cron starts updates, indexing or backups in the middle of a trial"
    wanted: str | None = STOPPED

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the running units; a transient one would be gone for good, so it is left."""
        if not here(tree):
            return [Target("", None, "systemd does not run this machine")]
        listing = ["systemctl", "list-units", "--state=active", "--plain", "--no-legend"]
        try:
            active = units(commands.run([*listing, "--no-pager", *CLOCKS]))
            shown = ["systemctl", "show", "--property=Id", "--property=Transient", *active]
            gone_for_good = transient(commands.run(shown)) if active else set()
        except FsgreenError as error:
            return [Target("", None, error.what)]
        why = "transient: once stopped it could not be started again"
        return [Target(unit, RUNNING, why * (unit in gone_for_good)) for unit in active]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse anything but stopping."""
        return "" if value == STOPPED else "timers can only be stopped here"

    def read(self, tree: Tree, target: str) -> str | None:
        """Return whether the unit is running, None where systemd has no such unit."""
        shown = commands.run(
            ["systemctl", "show", "--property=LoadState", "--property=ActiveState", target]
        )
        if "LoadState=loaded" not in shown.splitlines():
            return None
        return RUNNING if "ActiveState=active" in shown.splitlines() else STOPPED

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Start or stop the unit, and wait until that is done."""
        commands.run(self._command(target, value), lock_fd=lock_fd)

    def by_hand(self, target: str, value: str) -> str:
        """Return the call of systemctl."""
        return " ".join(self._command(target, value))

    def _command(self, target: str, value: str) -> list[str]:
        return ["systemctl", "stop" if value == STOPPED else "start", target]
