"""Copies of the work tree in which a test may change and make what it likes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from fsgreen import paths


def copy(folder: Path) -> None:
    """Copy what is in the work tree now, without what git leaves out, into a folder."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=paths.root(), capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        if (paths.root() / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(paths.root() / name, folder / name)


def commit(folder: Path) -> None:
    """Make a repository of a folder, all of it committed."""
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "-c", "core.compression=0", "add", "-A"], check=True)
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, *author, "commit", "-q", "-m", "all"], check=True)


def stand_in(folder: Path) -> None:
    """Give a copy a `.venv` that is current, and whose Python is that of these tests."""
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    source = [(paths.code() / name).read_text() for name in ("requirements.lock", "pyproject.toml")]
    (folder / ".venv" / "made-from").write_text(f"{folder}\n{''.join(source)}")


def environment(folder: Path) -> dict[str, str]:
    """The variables with which programs run the code of a copy."""
    programs = str(Path(sys.executable).parent)
    return {name: value for name, value in os.environ.items() if name != "FSGREEN_DATA"} | {
        "PYTHONPATH": str(folder),
        "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
    }
