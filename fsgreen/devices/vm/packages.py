"""The Debian packages of the guest: resolved and downloaded by apt, without root.

apt works in folders of the cache and with an empty list of what is installed, so that it resolves
all that the guest needs and nothing of this machine is touched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fsgreen import commands, paths
from fsgreen.durable import sha256_of
from fsgreen.errors import FsgreenError

SUITE = "bookworm"
"""Debian 12: its kernel, 6.1, has every file system of the studies, reiserfs too."""

ARCHITECTURE = "amd64"
KERNEL = f"linux-image-{ARCHITECTURE}"

TOOLS = (
    "btrfs-progs",
    "busybox-static",
    "coreutils",
    "dash",
    "e2fsprogs",
    "f2fs-tools",
    "fio",
    "iproute2",
    "jfsutils",
    "kmod",
    "librocksdb7.8",
    "mount",
    "netbase",
    "nfs-kernel-server",
    "nilfs-tools",
    "procps",
    "python3",
    "reiserfsprogs",
    "squashfs-tools",
    "util-linux",
    "xfsprogs",
)

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MIRROR = "FSGREEN_DEBIAN_MIRROR"
"""The variable that names another mirror."""

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
    """A package of the guest, for the manifest of its image."""

    name: str
    version: str
    sha256: str
    file: Path


class Apt:
    """apt in a folder of its own, for its lists and what it downloads.

    Raises FsgreenError if this machine has no apt, or none of Debian's keys.
    """

    def __init__(self, folder: Path) -> None:
        if paths.program("apt-get") is None or paths.program("dpkg-deb") is None:
            raise FsgreenError(
                "the guest is made of Debian packages, and this machine has no apt to get them",
                where="apt-get, dpkg-deb",
                next_step="build it on Debian or Ubuntu and copy the folder of the image here "
                "(docs/vm.md), or take another testbed",
            )
        self._archives = folder / "cache" / "archives"
        for part in ("state/lists/partial", "cache/archives/partial", "log"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "state" / "status").touch()
        self._configuration = folder / "apt.conf"
        self._configuration.write_text(
            CONFIGURATION.format(folder=folder, architecture=ARCHITECTURE, sources=_sources(folder))
        )
        self._lists = folder / "state" / "lists"

    def packages(self) -> list[Package]:
        """Return all packages of the guest, downloaded; the kernel comes first.

        Raises FsgreenError if a package is not to be had.
        """
        if not any(self._lists.glob("*_Packages*")):
            self._run("apt-get", "update")
        said = self._run("apt-cache", "depends", KERNEL)
        found = re.search(r"Depends: (linux-image-\S+)", said)
        if found is None:
            raise FsgreenError(
                f"Debian's package {KERNEL} names no kernel: {said.strip()[:200]!r}",
                where=self._lists,
                next_step=f"rm -r {self._lists}, then the same command again",
            )
        kernel = found[1]
        shown = self._run("apt-cache", "show", "--no-all-versions", kernel)
        version = re.search(r"^Version: (\S+)", shown, re.M)
        assert version is not None
        self._run("apt-get", "download", kernel, folder=self._archives)
        planned = self._run("apt-get", "--simulate", "--yes", "install", *TOOLS)
        self._run("apt-get", "--download-only", "--yes", "install", *TOOLS)
        chosen = re.findall(r"^Inst (\S+) \((\S+) .*\[(\w+)\]\)", planned, re.M)
        return [
            self._package(*one) for one in [(kernel, version[1], ARCHITECTURE), *sorted(chosen)]
        ]

    def _package(self, name: str, version: str, architecture: str) -> Package:
        name = name.partition(":")[0]
        file = self._archives / f"{name}_{version.replace(':', '%3a')}_{architecture}.deb"
        return Package(name, version, sha256_of(file), file)

    def _run(self, *command: str, folder: Path | None = None) -> str:
        """Run a program of apt and return what it printed."""
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


def _failed(command: Sequence[str], said: str) -> FsgreenError:
    errors = [line for line in said.splitlines() if line.startswith("E:")]
    reason = (errors or said.strip().splitlines() or ["no reason given"])[0].removeprefix("E: ")
    if "space" in reason.lower():
        remedy = "free some space, or move the cache: XDG_CACHE_HOME=ELSEWHERE"
    else:
        remedy = f"look at the network, or name another mirror: {MIRROR}=http://.../debian"
    return FsgreenError(
        f"the packages of the guest cannot be downloaded: {reason}",
        where=" ".join(command[:3]),
        next_step=f"{remedy}; docs/vm.md",
    )


def _sources(folder: Path) -> str:
    """Return where apt finds packages: as this machine does where it is that Debian itself."""
    mirror = os.environ.get(MIRROR)
    if mirror is None and _codename() == SUITE:
        return ""
    if not KEYRING.exists():
        raise FsgreenError(
            "Debian's keys are missing, so its packages cannot be verified",
            where=KEYRING,
            next_step="apt-get install debian-archive-keyring",
        )
    listed = folder / "sources.list"
    listed.write_text(
        f"deb [signed-by={KEYRING}] {mirror or 'http://deb.debian.org/debian'} {SUITE} main\n"
    )
    return f'Dir::Etc::sourcelist "{listed}";\nDir::Etc::sourceparts "{folder}/none";\n'


def _codename() -> str:
    release = Path("/etc/os-release")
    found = re.search(
        r"^VERSION_CODENAME=(\w+)", release.read_text() if release.exists() else "", re.M
    )
    return found[1] if found else ""
