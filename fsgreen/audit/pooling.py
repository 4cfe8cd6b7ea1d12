"""Which records of the machine may be pooled: those that agree in every checked key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CHECKED = (
    "kernel",
    "cpu",
    "microcode",
    "cores_count",
    "memory_b",
    "dirty_limit",
    "governor",
    "turbo",
    "smt",
    "firmware",
    "product",
    "virtual_machine",
    "container",
    "disks",
    "tools",
)
"""Keys whose values must agree before trials are pooled.

Not `boot_id`, because a campaign may go on after a reboot; not `speed_loops_s`, which scatters and
is held within a bound of the study instead; not `clocksource`, `swap_b` and `load_1min`, which the
preflight table watches.
"""

NOT_RECORDED = "not recorded"

MEMORY_SHARE = 0.01
"""How far totals of memory may lie apart: what firmware and kernel keep of it for themselves varies
from boot to boot (ours); a module more or less is far beyond it."""


def differences(audits: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the checked keys that differ among audits, with the values seen.

    Keys of nested values are joined by dots: `disks.SERIAL.firmware`, for a reboot may give disks
    other names, or `disks.sda.firmware` where not each has a serial number of its own. A key that
    no audit has, as in records older than it, is no difference; one that only some have is, because
    nobody can tell whether the others would agree.
    """
    leaves = [
        {name: value for key in CHECKED if key in audit for name, value in _leaves(key, audit[key])}
        for audit in map(_by_serial, audits)
    ]
    differing: dict[str, list[Any]] = {}
    for name in dict.fromkeys(name for audit in leaves for name in audit):
        values: list[Any] = []
        for audit in leaves:
            value = audit.get(name, NOT_RECORDED)
            if not any(_same(name, value, seen) for seen in values):
                values.append(value)
        if len(values) > 1:
            differing[name] = values
    return differing


def differences_of_testbeds(
    audits: Iterable[tuple[str, Mapping[str, Any]]],
) -> dict[str, list[Any]]:
    """Return the keys that differ on one testbed, and those in which testbeds differ.

    Each audit comes with its testbed. Testbeds that share a campaign have disks of one model, each
    with a serial number of its own.
    """
    by_testbed: dict[str, list[Mapping[str, Any]]] = {}
    for testbed, audit in audits:
        by_testbed.setdefault(testbed, []).append(audit)
    differing = [differences(of_one) for of_one in by_testbed.values()]
    differing.append(differences(_without_serials(of_one[0]) for of_one in by_testbed.values()))
    return {name: values for one in reversed(differing) for name, values in one.items()}


def _without_serials(audit: Mapping[str, Any]) -> dict[str, Any]:
    disks = {
        name: {key: value for key, value in disk.items() if key != "serial"}
        for name, disk in audit.get("disks", {}).items()
    }
    return {**audit, **({"disks": disks} if disks else {})}


def _same(name: str, value: Any, other: Any) -> bool:
    if name == "memory_b" and isinstance(value, int) and isinstance(other, int):
        return abs(value - other) <= MEMORY_SHARE * other
    return bool(value == other)


def _by_serial(audit: Mapping[str, Any]) -> Mapping[str, Any]:
    disks = list(audit.get("disks", {}).values())
    serials = [disk.get("serial") for disk in disks]
    if not all(serials) or len(set(serials)) < len(serials):
        return audit
    return {**audit, "disks": dict(zip(serials, disks, strict=True))}


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    else:
        yield name, value
