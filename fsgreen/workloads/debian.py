"""Programs of Debian as workloads: a source package that is compiled, a program that starts.

Packages are downloaded, unpacked and configured once, in the cache. Each trial gets a copy.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fsgreen import commands, debian, durable, elsewhere, paths
from fsgreen.debian import Apt, Package
from fsgreen.errors import FsgreenError
from fsgreen.workloads.base import Outcome
from fsgreen.workloads.command import CommandWorkload

FILES = "files"
"""The folder of the files: in the directory of a trial, and in the cache."""

PLACE = "{files}"
"""What stands for that folder in what a study says."""

RECORD = "made.json"


class Made(NamedTuple):
    """Files in the cache, and the record of what they were made of."""

    folder: Path
    record: dict[str, Any]


class OfPackages:
    """Files of Debian's packages, and a command on them that ends by itself.

    `asked` are the packages by name, without those that they need. `recipe` is all that the files
    follow from. `size_mib` is their size, for the checks that are done before they are made.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        asked: Sequence[str],
        recipe: Mapping[str, Any],
        command: list[str],
        size_mib: int,
    ) -> None:
        self.name = name
        self._scale, self._asked, self._recipe, self._size_mib = scale, asked, recipe, size_mib
        self._command = CommandWorkload(name, {"command": command}, scale, {})

    @property
    def size_b(self) -> int:
        """Bytes of the files, as declared; 0 where the study does not say."""
        return self._size_mib << 20

    def text_sha256(self) -> str:
        """Return the SHA-256 of what is done and of the packages that the files come from."""
        text = json.dumps([self._made.record, self._command.text_sha256()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def check(self) -> None:
        """Check that the command can run here, and make the files in the cache if need be.

        Raises FsgreenError if a program is missing, or a package is not to be had.
        """
        if elsewhere.place() is not None:
            raise FsgreenError(
                f"the files of the workload {self.name} are made on this machine, not in a guest",
                next_step="take another testbed than vm, or leave the workload out of the profile",
            )
        if self._scale != 1:
            raise FsgreenError(
                f"the workload {self.name} has one size: that of its packages",
                where=f"scale of {self.name} in the profile: {self._scale:g}",
                next_step="leave its scale out, or say 1",
            )
        self._command.check()
        _ = self._made

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Copy the files; return which packages they are of, and how long it took."""
        start_s = time.monotonic()
        shutil.copytree(self._made.folder, directory / FILES, symlinks=True)
        return {**self._made.record, "duration_s": time.monotonic() - start_s}

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Run the command, which is one operation; see `base.Workload.run`."""
        outcome = self._command.run(directory, seed, warmup_s, measure_s, load_ops_s, stop)
        packages = self._made.record["packages"]
        versions = ", ".join(f"{name} {packages[name]['version']}" for name in self._asked)
        return replace(outcome, summary=replace(outcome.summary, engine=versions))

    def _make(self, files: Path) -> list[Package]:
        """Make the files in a new folder; return the packages that they are of."""
        raise NotImplementedError

    @cached_property
    def _made(self) -> Made:
        cache = paths.cached() / "debian"
        cache.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(json.dumps(self._recipe, sort_keys=True).encode()).hexdigest()
        place = cache / key[:16]
        with (cache / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place / RECORD).exists():
                print(f"making the files of {self.name} from Debian's packages, once: {place}")
                with tempfile.TemporaryDirectory(dir=cache) as scratch:
                    files = Path(scratch, FILES)
                    packages = self._make(files)
                    durable.write_json(
                        Path(scratch, RECORD),
                        {
                            "suite": debian.SUITE,
                            "packages": {
                                package.name: {"version": package.version, "sha256": package.sha256}
                                for package in packages
                            },
                        },
                    )
                    place.mkdir(exist_ok=True)
                    shutil.rmtree(place / FILES, ignore_errors=True)
                    files.rename(place / FILES)
                    Path(scratch, RECORD).rename(place / RECORD)
        return Made(place / FILES, json.loads((place / RECORD).read_text()))

    def _apt(self, name: str, *, sources: bool = False) -> Apt:
        return Apt(
            paths.cached() / "debian" / name,
            purpose=f"the workload {self.name} takes files from",
            instead="leave it out of the profile",
            sources=sources,
        )


class Build(OfPackages):
    """A source package of Debian, compiled: one operation.

    `source` is its name. `configure` is run once in its folder, in the cache. `command` is run in
    the copy of each trial, with this machine's compiler.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        levels: Mapping[str, Any],
        source: str,
        configure: Sequence[str] = (),
        command: Sequence[str] = ("make",),
        size_mib: int = 0,
    ) -> None:
        self._source, self._configure = source, list(configure)
        recipe = {"source": source, "configure": self._configure}
        inside = ["env", f"--chdir={{directory}}/{FILES}", *command]
        super().__init__(name, scale, [source], recipe, inside, size_mib)

    def _make(self, files: Path) -> list[Package]:
        package = self._apt("sources", sources=True).source(self._source)
        commands.run(["dpkg-source", "--extract", str(package.file), str(files)])
        if self._configure:
            commands.run(
                ["env", f"--chdir={files}", *self._configure],
                next_step=f"read config.log, or change configure of {self.name} in the study",
            )
        return [package]


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
        folder = Path("{directory}", FILES)
        program, *arguments = (word.replace(PLACE, str(folder)) for word in command)
        started = [*debian.through_loader(folder, program), *arguments]
        set_ = [
            f"{key}={value.replace(PLACE, str(folder))}"
            for key, value in (environment or {}).items()
        ]
        # `script` is a terminal for the program, which would not start as usual without one.
        terminal = ["script", "--quiet", "--return", "--command", shlex.join(started), "/dev/null"]
        super().__init__(name, scale, packages, recipe, ["env", *set_, *terminal], size_mib)

    def _make(self, files: Path) -> list[Package]:
        packages = self._apt("programs").install(self._packages)
        files.mkdir()
        for package in packages:
            commands.run(["dpkg-deb", "--extract", str(package.file), str(files)])
        for pattern in self._left_out:
            for found in files.glob(pattern):
                if found.is_dir() and not found.is_symlink():
                    shutil.rmtree(found)
                else:
                    found.unlink()
        return packages


def openssh(name: str, scale: float, levels: Mapping[str, Any]) -> Build:
    """OpenSSH of Debian 12 is compiled, a file after the other."""
    # Debian's patches leave the files that are made of what they change older than that.
    configure = "touch aclocal.m4 config.h.in configure; ./configure"
    return Build(
        name,
        scale,
        levels,
        source="openssh",
        configure=["sh", "-ec", f"{configure} --without-openssl --without-zlib"],
        command=["make", "-j1"],
        size_mib=30,
    )


def emacs(name: str, scale: float, levels: Mapping[str, Any]) -> Start:
    """Emacs of Debian 12 starts on a terminal, and ends."""
    own, programs = "usr/share/emacs/28.2", "usr/libexec/emacs/28.2/x86_64-linux-gnu"
    unread = ("doc", "info", "locale", "man", "perl")
    return Start(
        name,
        scale,
        levels,
        packages=["emacs-nox"],
        command=[
            *("usr/bin/emacs-nox", f"--dump-file={{files}}/{programs}/emacs.pdmp"),
            *("-nw", "-Q", "--eval", "(kill-emacs)"),
        ],
        environment={
            "EMACSDATA": f"{{files}}/{own}/etc",
            "EMACSDOC": f"{{files}}/{own}/etc",
            "EMACSLOADPATH": f"{{files}}/{own}/lisp:",
            "EMACSPATH": f"{{files}}/{programs}",
            "HOME": "{files}",
            "TERM": "xterm",
        },
        left_out=[
            *("usr/include", "usr/lib/gcc", f"{debian.LIBRARIES[1]}/*.a"),
            f"{debian.LIBRARIES[1]}/perl",
            *(f"usr/share/{name}" for name in unread),
        ],
        size_mib=300,
    )
