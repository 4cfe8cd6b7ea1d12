"""What a guest in QEMU needs here. What is missing is a note: only the testbed `vm` needs it."""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen import debian
from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.devices.base import GuestAsked
from fsgreen.devices.vm import image, needs
from fsgreen.preflight.finding import Finding

TESTBED = "vm"
SUBJECT = f"testbed {TESTBED}"


def check(tree: Tree) -> Iterator[Finding]:
    """Yield a row for each thing that is missing; else whether the image is made, and memory."""
    lacking = needs.lacking()
    for error in lacking:
        yield Finding(SUBJECT, f"not here: {error.what}", "note", error.next_step or "")
    if not lacking:
        yield _image()
        yield _memory(tree)


def _image() -> Finding:
    if image.made_base() is not None:
        return Finding(SUBJECT, "a guest can start: QEMU is here, and its image is made", "ok")
    return Finding(
        SUBJECT,
        f"the first use makes the image, in about a minute, of packages from {needs.mirror()}",
        "ok",
        f"to name another mirror: {debian.MIRROR}=http://.../debian",
    )


def _memory(tree: Tree) -> Finding:
    subject, needed_mib = "memory for a guest", GuestAsked().memory_mib
    free_b = machine.meminfo_b(tree, "MemAvailable")
    if free_b is None:
        return Finding(subject, "not readable", "note")
    state = f"{free_b >> 20} MiB available, it takes {needed_mib} MiB"
    if free_b >> 20 >= needed_mib:
        return Finding(subject, state, "ok")
    remedy = "end what takes it: top -o %MEM; or a smaller guest_memory_mib in the testbed file"
    return Finding(subject, state, "note", remedy)
