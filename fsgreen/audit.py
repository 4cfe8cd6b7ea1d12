"""What the machine was: read at the start and the end of each trial (rule 9 of the statistics).

Values that are constants of the machine are *checked*: trials in which they differ are not pooled.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fsgreen import __version__, paths

CHECKED = ("kernel", "cpu", "cores_count", "memory_b", "governor", "turbo", "smt", "tools")
"""Keys whose values must agree before trials are pooled."""

TOOLS = {
    "mke2fs": ("mkfs.ext4", "-V"),
    "mkfs.xfs": ("mkfs.xfs", "-V"),
    "mkfs.btrfs": ("mkfs.btrfs", "-V"),
    "losetup": ("losetup", "--version"),
    "fsgreen-wml": ("fsgreen-wml", "--version"),
}


def audit() -> dict[str, Any]:
    """Return what can be read about the machine; what cannot be read is None, never a guess."""
    return {
        "fsgreen": __version__,
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores_count": os.cpu_count(),
        "memory_b": _meminfo("MemTotal"),
        "swap_b": _meminfo("SwapTotal"),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "turbo": _turbo(),
        "smt": _text("/sys/devices/system/cpu/smt/control"),
        "clocksource": _text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "load_1min": os.getloadavg()[0],
        "tools": dict(_tools()),
    }


def differences(audits: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the checked keys that differ among audits, with the values seen."""
    seen: dict[str, list[Any]] = {key: [] for key in CHECKED}
    for record in audits:
        for key, values in seen.items():
            if record.get(key) not in values:
                values.append(record.get(key))
    return {key: values for key, values in seen.items() if len(values) > 1}


@cache
def _tools() -> tuple[tuple[str, str | None], ...]:
    return tuple((name, _version(command)) for name, command in TOOLS.items())


def _version(command: tuple[str, ...]) -> str | None:
    program = paths.program(command[0])
    if program is None:
        return None
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0] if lines else None


def _cpu_model() -> str | None:
    for line in (_text("/proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None


def _meminfo(key: str) -> int | None:
    for line in (_text("/proc/meminfo") or "").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return None


def _turbo() -> str | None:
    no_turbo = _text("/sys/devices/system/cpu/intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo == "1" else "on"
    boost = _text("/sys/devices/system/cpu/cpufreq/boost")
    return None if boost is None else ("on" if boost == "1" else "off")


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
