"""The programs that make file systems and work, and their versions."""

from __future__ import annotations

import subprocess
from functools import cache

from fsgreen import paths

TOOLS = {
    "mke2fs": ("mkfs.ext4", "-V"),
    "mkfs.xfs": ("mkfs.xfs", "-V"),
    "mkfs.btrfs": ("mkfs.btrfs", "-V"),
    "losetup": ("losetup", "--version"),
    "fsgreen-wml": ("fsgreen-wml", "--version"),
}


@cache
def versions() -> tuple[tuple[str, str | None], ...]:
    """Return each tool and the first line that it says of its version, None where it is missing."""
    return tuple((name, _version(command)) for name, command in TOOLS.items())


def _version(command: tuple[str, ...]) -> str | None:
    program = paths.program(command[0])
    if program is None:
        return None
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0] if lines else None
