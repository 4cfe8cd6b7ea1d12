"""What this machine can and cannot do, and how to mend it (rule 10 of the statistics)."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fsgreen import audit, paths, testbeds, workloads
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError

Severity = Literal["ok", "note", "warning", "blocks"]

BUSY_LIMIT_PERCENT = 5.0
"""Rule 10: more CPU time than this taken by others disturbs a measurement."""

BUSY_SAMPLE_S = 1.0


@dataclass(frozen=True)
class Finding:
    """One row of the preflight table: what was looked at, what it is, and what would mend it."""

    subject: str
    state: str
    severity: Severity
    remedy: str = ""


def check(*, folder: Path | None = None) -> list[Finding]:
    """Return the preflight table, the most severe findings first.

    Parameters
    ----------
    folder : Path, optional
        Where images and raw traces would go; the data folder by default.
    """
    order = ("blocks", "warning", "note", "ok")
    findings = [
        *_programs(),
        *_testbeds(),
        *_file_systems(),
        *_power_state(),
        _busy(),
        _swap(),
        _space(folder or paths.data()),
        _meter_ports(),
    ]
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def check_plan(plan: Plan, testbed: testbeds.Testbed) -> None:
    """Refuse a plan that cannot run on a testbed, before anything is formatted.

    Raises
    ------
    FsgreenError
        For an unknown workload, file system or option, or files that do not fit.
    """
    for cell in plan.cells:
        testbed.check(cell.file_system, cell.option)
    for name in sorted({cell.workload for cell in plan.cells}):
        workload = workloads.load_workload(name, plan.profile.scale[name])
        workload.check()
        if workload.size_b > plan.profile.image_b:
            raise FsgreenError(
                f"{name} at scale {plan.profile.scale[name]:g} needs "
                f"{workload.size_b / 2**20:.0f} MiB, the image has "
                f"{plan.profile.image_b / 2**20:.0f} MiB",
                where=f"studies/{plan.study}.yaml",
                next_step=f"a smaller scale or a larger image_mib in profile {plan.profile.name}",
            )


def _programs() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("Python", version, "ok")
    if paths.program("fsgreen-wml") is None:
        yield Finding(
            "workload engine", "not built: shipped traces only", "warning", "./run engine"
        )
    else:
        yield Finding("workload engine", audit.audit()["tools"]["fsgreen-wml"] or "built", "ok")


def _testbeds() -> Iterator[Finding]:
    for kind, usable, why in testbeds.available():
        severity: Severity = "ok" if usable else "note"
        yield Finding(
            f"testbed {kind}", why if usable else "not here", severity, "" if usable else why
        )


def _file_systems() -> Iterator[Finding]:
    for name, usable, why in testbeds.file_systems():
        severity: Severity = "ok" if usable else "note"
        yield Finding(
            f"file system {name}",
            "usable" if usable else "not here",
            severity,
            "" if usable else why,
        )


def _power_state() -> Iterator[Finding]:
    machine = audit.audit()
    governor = machine["governor"]
    if governor is None:
        yield Finding(
            "CPU governor", "not readable (a virtual machine?)", "note", "measure on real hardware"
        )
    elif governor == "performance":
        yield Finding("CPU governor", governor, "ok")
    else:
        yield Finding("CPU governor", governor, "warning", "cpupower frequency-set -g performance")
    if machine["turbo"] == "on":
        yield Finding(
            "turbo", "on: speed depends on temperature", "warning", "switch it off in the firmware"
        )
    if machine["smt"] == "on":
        yield Finding(
            "SMT", "on", "note", "echo off | sudo tee /sys/devices/system/cpu/smt/control"
        )


def _busy() -> Finding:
    busy_percent = _busy_percent()
    state = f"{busy_percent:.0f} % of all cores used by others"
    if busy_percent < BUSY_LIMIT_PERCENT:
        return Finding("CPU", state, "ok")
    return Finding("CPU", state, "warning", "end other work before measuring: top")


def _busy_percent() -> float:
    def read() -> tuple[float, float]:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        return float(sum(ticks[:8])), float(ticks[3] + ticks[4])

    total, idle = read()
    time.sleep(BUSY_SAMPLE_S)
    total_later, idle_later = read()
    elapsed = total_later - total
    return 100 * (1 - (idle_later - idle) / elapsed) if elapsed else 0.0


def _swap() -> Finding:
    swap_b = audit.audit()["swap_b"]
    if not swap_b:
        return Finding("swap", "none", "ok")
    return Finding("swap", f"{swap_b / 2**30:.1f} GiB", "warning", "swapoff -a")


def _space(folder: Path) -> Finding:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    free_b = shutil.disk_usage(existing).free
    state = f"{free_b / 2**30:.1f} GiB free for images and traces"
    if free_b > 4 * 2**30:
        return Finding("disk space", state, "ok")
    return Finding("disk space", state, "warning", "free some, or measure with --folder elsewhere")


def _meter_ports() -> Finding:
    ports = Path("/dev/serial/by-id")
    found = sorted(os.listdir(ports)) if ports.is_dir() else []
    if found:
        return Finding(
            "power meter",
            f"serial ports: {', '.join(found)}",
            "ok",
            "name one in a testbed file: docs/measuring.md",
        )
    return Finding(
        "power meter",
        "none: power will be modelled, and say so",
        "note",
        "plug in a Watts Up and name its port in a testbed file: docs/measuring.md",
    )
