"""Processor, memory, firmware, and whether the machine is a virtual one; all by reading files."""

from __future__ import annotations

import re

from fsgreen.audit.tree import Tree

CPU = "sys/devices/system/cpu"
CLOCKSOURCES = "sys/devices/system/clocksource/clocksource0"
CLOCKSOURCE = f"{CLOCKSOURCES}/current_clocksource"
DMI = "sys/class/dmi/id"
VM = "proc/sys/vm"

TURBO = {"intel_pstate/no_turbo": "0", "cpufreq/boost": "1"}
"""The files below `CPU` that switch turbo, with what they hold while it is on."""

HYPERVISORS = {
    "KVM": "kvm",
    "OpenStack": "kvm",
    "KubeVirt": "kvm",
    "Amazon EC2": "amazon",
    "Google Compute Engine": "google",
    "QEMU": "qemu",
    "VMware": "vmware",
    "VirtualBox": "oracle",
    "innotek GmbH": "oracle",
    "Xen": "xen",
    "Bochs": "bochs",
    "Parallels": "parallels",
    "BHYVE": "bhyve",
    "Virtual Machine": "microsoft",
    "Apple Virtualization": "apple",
}
"""Words in the firmware's names of a machine, and the hypervisor that puts them there."""


def cpu_model(tree: Tree) -> str | None:
    """Return the processor's name."""
    return _cpuinfo(tree, "model name")


def microcode(tree: Tree) -> str | None:
    """Return the revision of the processor's microcode; x86 only."""
    return _cpuinfo(tree, "microcode")


def governor(tree: Tree) -> str | None:
    """Return the frequency governor; all of them, joined by commas, where cores differ."""
    texts = [
        tree.text(f"{CPU}/cpufreq/{policy}/scaling_governor")
        for policy in tree.folders(f"{CPU}/cpufreq", "scaling_governor")
    ]
    return ",".join(sorted({text for text in texts if text})) or None


def turbo(tree: Tree) -> str | None:
    """Return whether turbo is `on` or `off`."""
    for file, on in TURBO.items():
        text = tree.text(f"{CPU}/{file}")
        if text is not None:
            return "on" if text == on else "off"
    return None


def meminfo_b(tree: Tree, key: str) -> int | None:
    """Return one line of /proc/meminfo, in bytes."""
    return meminfo_of_text_b(tree.text("proc/meminfo") or "", key)


def meminfo_of_text_b(text: str, key: str) -> int | None:
    """Return one line of what /proc/meminfo says, in bytes."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == key and re.fullmatch(r" *[0-9]{1,15} kB", value):
            return int(value.split()[0]) * 1024
    return None


def dirty_limit(tree: Tree) -> str | None:
    """Return how much of memory may wait to be written: bytes, or a share as `20%`."""
    limit_b = tree.number(f"{VM}/dirty_bytes")
    percent = tree.number(f"{VM}/dirty_ratio")
    if limit_b:
        return str(limit_b)
    return None if percent is None else f"{percent}%"


def firmware(tree: Tree) -> str | None:
    """Return vendor, version and date of the BIOS or UEFI."""
    return _dmi(tree, "bios_vendor", "bios_version", "bios_date")


def product(tree: Tree) -> str | None:
    """Return vendor and name of the machine, or of what the hypervisor makes it look like."""
    return _dmi(tree, "sys_vendor", "product_name")


def virtual_machine(tree: Tree) -> str | None:
    """Return the hypervisor's name, `none` on bare hardware, None where that cannot be told.

    Told by Xen's own file, the names in the firmware, the clocks that only a hypervisor offers,
    and last by the processor's flag; systemd-detect-virt(1) looks at the same first.
    """
    flags = _cpuinfo(tree, "flags")
    named = tree.text("sys/hypervisor/type") or _hypervisor_by_names(tree)
    if named is not None:
        return named
    clocks = tree.text(f"{CLOCKSOURCES}/available_clocksource") or ""
    for clock, name in {"kvm-clock": "kvm", "hyperv": "microsoft"}.items():
        if clock in clocks:
            return name
    if flags is None:
        return None
    return "unknown" if "hypervisor" in flags.split() else "none"


def container(tree: Tree) -> str:
    """Return the kind of container that this runs in, `none` where nothing tells of one."""
    if tree.path(".dockerenv").exists():
        return "docker"
    if tree.path("run/.containerenv").exists():
        return "podman"
    return tree.text("run/systemd/container") or "none"


def _cpuinfo(tree: Tree, key: str) -> str | None:
    for line in (tree.text("proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def _dmi(tree: Tree, *names: str) -> str | None:
    texts = [tree.text(f"{DMI}/{name}") for name in names]
    return " ".join(text for text in texts if text) or None


def _hypervisor_by_names(tree: Tree) -> str | None:
    names = _dmi(tree, "product_name", "sys_vendor", "board_vendor", "bios_vendor") or ""
    return next((name for word, name in HYPERVISORS.items() if word in names), None)
