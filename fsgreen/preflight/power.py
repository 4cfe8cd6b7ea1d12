"""Where the power comes from, and what the kernel does in the background by itself."""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen.audit.tree import Tree
from fsgreen.preflight.finding import Finding

SUPPLIES = "sys/class/power_supply"
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"


def check(tree: Tree) -> Iterator[Finding]:
    """Yield the findings."""
    yield _supply(tree)
    yield _huge_pages(tree)


def _supply(tree: Tree) -> Finding:
    supplies = tree.folders(SUPPLIES, "type")
    # The scope `Device` is that of a mouse or a headset.
    batteries = [
        name
        for name in supplies
        if tree.text(f"{SUPPLIES}/{name}/type") == "Battery"
        and tree.text(f"{SUPPLIES}/{name}/scope") != "Device"
    ]
    if not batteries:
        return Finding("power supply", "no battery", "ok")
    states = {name: tree.text(f"{SUPPLIES}/{name}/status") for name in batteries}
    if "Discharging" in states.values():
        return Finding(
            "power supply",
            "on battery: the machine saves power, and a wall meter sees nothing",
            "warning",
            "plug in the mains adapter",
        )
    if "Charging" in states.values():
        return Finding(
            "power supply",
            "charging: a wall meter measures the battery too",
            "warning",
            "wait until it is full",
        )
    if None in states.values():
        return Finding("power supply", "the state of the battery is not readable", "note")
    return Finding("power supply", "mains, battery not charging", "ok")


def _huge_pages(tree: Tree) -> Finding:
    """Transparent huge pages matter little here: files are cached in small pages.

    Set to `always` they let the kernel join the pages of programs in the background.
    """
    now = tree.choice(HUGE_PAGES)
    if now is None:
        return Finding("huge pages", "not in this kernel", "note")
    if now != "always":
        return Finding("huge pages", now, "ok")
    state = "always: the kernel joins pages of programs in the background"
    return Finding("huge pages", state, "note", f"echo madvise | sudo tee /{HUGE_PAGES}")
