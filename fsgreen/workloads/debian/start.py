"""A program of Debian that starts, and ends at once."""

from __future__ import annotations

import platform
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen import commands, debian
from fsgreen.debian import Package
from fsgreen.errors import FsgreenError
from fsgreen.workloads.debian.files import FOLDER, apt
from fsgreen.workloads.debian.program import OfPackages

PLACE = "{files}"
"""What stands for the folder of the files in what a study says."""

VARIABLE = "FSGREEN_FILES"
TERMINAL = "script"
MACHINE = "x86_64"


class Start(OfPackages):
    """A program of Debian that starts and ends at once, on a terminal of its own: one operation.

    `packages` are unpacked with all that they need, but for what matches a pattern of `left_out`.
    The program, the first word of `command`, runs by the loader and the libraries among these
    files. `{files}` stands for their folder, in `command` and in the values of `environment`.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        levels: Mapping[str, Any],
        packages: Sequence[str],
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        left_out: Sequence[str] = (),
        size_mib: int = 0,
    ) -> None:
        self._packages, self._left_out = list(packages), list(left_out)
        recipe = {"packages": self._packages, "left_out": self._left_out}
        program, *arguments = command
        words = [*debian.through_loader(Path(PLACE), program), *arguments]
        folder = f"{{directory}}/{FOLDER}"
        values = {key: value.replace(PLACE, folder) for key, value in (environment or {}).items()}
        # The terminal runs a line of the shell, which knows the folder as a variable: a directory
        # may have any name.
        values |= {VARIABLE: folder, "SHELL": "/bin/sh"}
        line = " ".join(map(_quoted, words))
        terminal = [TERMINAL, "--quiet", "--return", "--command", f"exec {line}", "/dev/null"]
        set_ = [f"{key}={value}" for key, value in values.items()]
        super().__init__(name, scale, levels, packages, recipe, ["env", *set_, *terminal], size_mib)

    def needs(self) -> Sequence[str]:
        """Return the programs of this machine that a trial runs."""
        return (TERMINAL,)

    def check(self) -> None:
        """Check what every such workload does, and that this machine runs the program."""
        if platform.machine() != MACHINE:
            raise FsgreenError(
                f"the program of the workload {self.name} is for {MACHINE}, this machine is "
                f"{platform.machine()}",
                next_step="leave it out of the profile",
            )
        super().check()

    def make(self, into: Path) -> list[Package]:
        """Unpack the packages into a new folder; return them."""
        packages = apt("programs", self.name, "deb").install(self._packages)
        if missing := {*self._packages} - {package.name for package in packages}:
            raise FsgreenError(
                f"Debian has no package of the name {', '.join(sorted(missing))}",
                where=f"packages of the workload {self.name}",
                next_step="say the name alone, as `apt-cache search` prints it",
            )
        into.mkdir()
        for package in packages:
            commands.run(["dpkg-deb", "--extract", str(package.file), str(into)])
        for pattern in self._left_out:
            parts = Path(pattern).parts
            inside = ".." not in parts and not Path(pattern).is_absolute()
            found = list(into.glob(pattern)) if inside else []
            if not found:
                raise FsgreenError(
                    f"no file of the packages matches {pattern}",
                    where=f"left_out of the workload {self.name}",
                    next_step="mend the pattern, or leave it out",
                )
            for path in found:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
        return packages


def _quoted(word: str) -> str:
    """Return a word for the shell, with its variable in place of the folder."""
    return f'"${VARIABLE}"'.join(map(shlex.quote, word.split(PLACE)))
