"""Packages of Debian, resolved and downloaded by apt without root.

apt works in a folder of its own and with an empty list of what is installed. So it resolves what a
package needs (but for essential packages, which none names), and nothing of this machine is
touched. What was downloaded stays: remove the folder to get newer packages.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from fsgreen import commands, paths
from fsgreen.durable import sha256_of
from fsgreen.errors import FsgreenError

SUITE = "bookworm"
"""Debian 12: its kernel, 6.1, has every file system of the studies, reiserfs too."""

ARCHITECTURE = "amd64"
LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
LOADER = f"{LIBRARIES[0]}/ld-linux-x86-64.so.2"

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MIRROR = "FSGREEN_DEBIAN_MIRROR"
"""The variable that names another mirror."""

Kind = Literal["deb", "deb-src", "own"]
"""Which packages apt knows: those that can be installed, sources, or what this machine's apt knows
where it is that Debian itself (else those that can be installed)."""

T = TypeVar("T")

DEFAULT_MIRROR = "http://deb.debian.org/debian"

CONFIGURATION = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::State "{folder}/state";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Log "{folder}/log";
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
{sources}"""


class Package(NamedTuple):
    """A package that was downloaded: for a source package, `file` is its description (.dsc)."""

    name: str
    version: str
    sha256: str
    file: Path


class Apt:
    """apt in a folder of its own, for its lists and what it downloads.

    `purpose` begins the message if there is no apt: what takes packages of Debian; `instead` is
    what to do then.

    Raises FsgreenError if this machine has no apt, or none of Debian's keys.
    """

    def __init__(self, folder: Path, *, purpose: str, instead: str, kind: Kind) -> None:
        if paths.program("apt-get") is None or paths.program("dpkg-deb") is None:
            raise FsgreenError(
                f"{purpose} Debian packages, and this machine has no apt to get them",
                where="apt-get, dpkg-deb",
                next_step=instead,
            )
        self.archives = folder / "cache" / "archives"
        for part in ("state/lists/partial", "cache/archives/partial", "log"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "state" / "status").touch()
        self._configuration = folder / "apt.conf"
        self._configuration.write_text(
            CONFIGURATION.format(
                folder=folder, architecture=ARCHITECTURE, sources=_sources(folder, kind)
            )
        )
        self.lists = folder / "state" / "lists"

    def listed(self, ask: Callable[[], T]) -> T:
        """Return what `ask` does with the lists of packages, which are downloaded if need be.

        If it fails with lists of an earlier day, or of another mirror, it asks new ones.
        """
        if any(self.lists.glob("*_Packages*")) or any(self.lists.glob("*_Sources*")):
            try:
                return ask()
            except FsgreenError:
                pass
        self.run("apt-get", "update")
        return ask()

    def install(self, names: Sequence[str]) -> list[Package]:
        """Return these packages and all that they need, downloaded, by name.

        Raises FsgreenError if a package is not to be had.
        """

        def planned() -> str:
            told = self.run("apt-get", "--simulate", "--yes", "install", *names)
            self.run("apt-get", "--download-only", "--yes", "install", *names)
            return told

        chosen = re.findall(r"^Inst (\S+) \((\S+) .*\[(\w+)\]\)", self.listed(planned), re.M)
        return [self.package(*one) for one in sorted(chosen)]

    def source(self, name: str) -> Package:
        """Return a source package, downloaded, with the files that its description names.

        Raises FsgreenError if it is not to be had.
        """

        def printed() -> str:
            with tempfile.TemporaryDirectory() as empty:  # it names only what is not there yet
                told = self.run("apt-get", "--print-uris", "source", name, folder=Path(empty))
            self.run("apt-get", "--download-only", "source", name, folder=self.archives)
            return told

        described = re.search(r" (\S+\.dsc) ", self.listed(printed))
        assert described is not None
        file = self.archives / described[1]
        signed = file.read_text().partition("-----BEGIN PGP SIGNATURE")[0]
        said = dict(re.findall(r"^(Source|Version): (\S+)", signed, re.M))
        return Package(said["Source"], said["Version"], sha256_of(file), file)

    def package(self, name: str, version: str, architecture: str) -> Package:
        """Return a package that was downloaded."""
        name = name.partition(":")[0]
        file = self.archives / f"{name}_{version.replace(':', '%3a')}_{architecture}.deb"
        return Package(name, version, sha256_of(file), file)

    def run(self, *command: str, folder: Path | None = None) -> str:
        """Run a program of apt and return what it printed.

        Raises FsgreenError if it fails.
        """
        program, *arguments = command
        path = paths.program(program)
        assert path is not None
        with commands.uninterrupted():
            done = subprocess.run(
                [path, "-c", str(self._configuration), *arguments],
                cwd=folder,
                env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        if done.returncode:
            raise _failed(command, done.stderr)
        return done.stdout


def through_loader(tree: Path, program: str, name: str | None = None) -> list[str]:
    """Return the beginning of a command that runs a program of unpacked packages on this machine.

    It takes the loader and the libraries of the tree, so no version of this machine matters.
    `name` is what the program sees as its own; else that is its path.
    """
    libraries = ":".join(str(tree / folder) for folder in LIBRARIES)
    called = [] if name is None else ["--argv0", name]
    return [str(tree / LOADER), "--library-path", libraries, *called, str(tree / program)]


def _failed(command: Sequence[str], said: str) -> FsgreenError:
    errors = [line for line in said.splitlines() if line.startswith("E:")]
    reason = (errors or said.strip().splitlines() or ["no reason given"])[0].removeprefix("E: ")
    if reason.startswith("Unable to "):
        remedy = "mend the name of the package, or look at the network"
    elif "space" in reason.lower():
        remedy = "free some space, or move the cache: XDG_CACHE_HOME=ELSEWHERE"
    else:
        remedy = f"look at the network, or name another mirror: {MIRROR}=http://.../debian"
    return FsgreenError(
        f"packages of Debian cannot be downloaded: {reason}",
        where=" ".join(command[:3]),
        next_step=remedy,
    )


def _sources(folder: Path, kind: Kind) -> str:
    """Return where apt finds packages."""
    mirror = os.environ.get(MIRROR)
    if kind == "own" and mirror is None and _codename() == SUITE:
        return ""
    if not KEYRING.exists():
        raise FsgreenError(
            "Debian's keys are missing, so its packages cannot be verified",
            where=KEYRING,
            next_step="apt-get install debian-archive-keyring",
        )
    listed, what = folder / "sources.list", "deb-src" if kind == "deb-src" else "deb"
    listed.write_text(f"{what} [signed-by={KEYRING}] {mirror or DEFAULT_MIRROR} {SUITE} main\n")
    return (
        f'Dir::Etc::sourcelist "{listed}";\nDir::Etc::sourceparts "{folder}/none";\n'
        'APT::Update::Error-Mode "any";\n'
    )


def _codename() -> str:
    release = Path("/etc/os-release")
    found = re.search(
        r"^VERSION_CODENAME=(\w+)", release.read_text() if release.exists() else "", re.M
    )
    return found[1] if found else ""
