"""The NFS client of Linux, in a guest, on a server of this machine: it sees what is there."""

import contextlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vms import need_guest, nightly

from fsgreen import elsewhere, paths
from fsgreen.devices.vm import boot, image
from fsgreen.devices.vm.boot import Machine
from fsgreen.devices.vm.guest import Guest
from fsgreen.errors import FsgreenError
from fsgreen.workloads.nfs import PROGRAM, started

pytestmark = [
    nightly,
    pytest.mark.slow,
    pytest.mark.skipif(
        paths.program(PROGRAM) is None, reason=f"{PROGRAM} not installed: ./run engine"
    ),
]

MIB = 2**20
LIMIT_S = 300.0

NETWORK = ("-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=")
"""QEMU's own network, from which this machine is reached without root."""

HOST, GUEST = "10.0.2.2", "10.0.2.15"
"""Of that network."""

MODULES = ("net/core/failover", "drivers/net/net_failover", "drivers/net/virtio_net")
"""What the image of the guest leaves out, as no trial needs a network; each needs those before."""

POINT = "/run/nfs"

LOOK = """
import hashlib, json, os, sys
from concurrent.futures import ThreadPoolExecutor
os.chdir(sys.argv[1])
names = [os.path.join(at, name) for at, *below in os.walk(".") for of in below for name in of]
def looked_at(name):
    of = os.lstat(name)
    about = [of.st_ino, of.st_mode, of.st_nlink, of.st_uid, of.st_gid, of.st_size, of.st_mtime_ns]
    if os.path.islink(name):
        return [*about, os.readlink(name)]
    if os.path.isdir(name):
        return about
    with open(name, "rb") as file:
        return [*about, hashlib.file_digest(file, "sha256").hexdigest()]
with ThreadPoolExecutor(4) as several:
    print(json.dumps(dict(zip(names, several.map(looked_at, names)))))
"""
"""Prints all that is in a folder, with attributes and hashes; the same on both sides."""


def modules_of(made: image.Image, into: Path) -> list[Path]:
    """The modules of the guest's kernel, out of Debian's package."""
    kernel = made.manifest["kernel"]
    archives = image.folder() / "apt" / "cache" / "archives"
    packages = sorted(archives.glob(f"linux-image-{kernel}_*.deb"))
    if not packages:
        pytest.skip(f"needs the package of the guest's kernel: rm -r {image.folder()}, once more")
    names = [f"./lib/modules/{kernel}/kernel/{name}.ko" for name in MODULES]
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(packages[-1])], stdout=subprocess.PIPE
    ) as unpacked:
        subprocess.run(["tar", "-x", "-C", str(into), *names], stdin=unpacked.stdout, check=True)
    return [into / name for name in names]


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """A guest with a network."""
    made, folder = need_guest(), tmp_path_factory.mktemp("guest")
    modules = modules_of(made, tmp_path_factory.mktemp("modules"))
    plain = boot.command
    with pytest.MonkeyPatch.context() as patch, (folder / "lock").open("w") as lock:
        patch.setattr(boot, "command", lambda *given: [*plain(*given), *NETWORK])
        up = Guest(Machine("tcg", "null"), made, folder, lock_fd=lock.fileno())
        try:
            with up.entered():
                inside = [elsewhere.path_of(module) for module in modules]
            for module in inside:
                ask(up, "insmod", module)
            ask(up, "busybox", "ifconfig", "eth0", GUEST, "netmask", "255.255.255.0", "up")
            ask(up, "mkdir", POINT)
            yield up
        finally:
            up.stop()


def ask(guest: Guest, *command: str) -> str:
    """What a program of the guest prints."""
    printed: str = guest.ask("run", LIMIT_S, command=list(command))
    return printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of many sizes, more names than one reply has room for, and links."""
    top, content = tmp_path_factory.mktemp("served"), random.Random(1)
    for size_b in (0, 1, 8191, 8193, MIB, 3 * MIB + 17):
        (top / f"of {size_b} B").write_bytes(content.randbytes(size_b))
    below = top / "below" / "ünder"
    below.mkdir(parents=True)
    for number in range(600):
        (below / f"{number:03}-{'long' * 20}").write_bytes(bytes([number % 251]))
    (below / "to").symlink_to("../../of 1 B")
    os.link(top / "of 1 B", below / "linked")
    os.utime(top / "of 8191 B", ns=(10**9 + 1, 10**9 + 1))
    return top


@contextlib.contextmanager
def mounted(guest: Guest, folder: Path, *options: str) -> Iterator[dict[str, Any]]:
    """Serve a folder, and mount it in the guest; what the server counted is there at the end."""
    with started(["serve", str(folder), "--listen=127.0.0.1:0", "--daemons=8"]) as server:
        port = server.report(LIMIT_S)["address"].rpartition(":")[2]
        of_server = (f"port={port}", f"mountport={port}", "mountproto=tcp")
        asked = ",".join(["vers=3", "nolock", "tcp", *of_server, *options])
        ask(guest, "mount", "-t", "nfs", "-o", asked, f"{HOST}:/", POINT)
        counted: dict[str, Any] = {}
        try:
            yield counted
        finally:
            ask(guest, "umount", POINT)
        server.end()
        counted |= server.report(LIMIT_S)


@pytest.mark.parametrize(
    ("options", "connections"),
    [((), 1), (("rsize=8192",), 1), (("nconnect=4",), 4)],
    ids=["plain", "small reads", "connections"],
)
def test_it_sees_all_files_as_they_are(
    guest: Guest, folder: Path, options: tuple[str, ...], connections: int
) -> None:
    """With small reads, and over several connections, too."""
    command = [sys.executable, "-c", LOOK, str(folder)]
    there = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    with mounted(guest, folder, *options) as counted:
        assert json.loads(ask(guest, "python3", "-c", LOOK, POINT)) == there
        counts = ask(guest, "cat", "/proc/self/mountstats")
        assert counts.count("\txprt:\ttcp ") == connections
    found = [path.stat() for path in folder.rglob("*") if path.is_file()]
    inodes = {of.st_ino for of in found if of.st_size}
    assert counted["reads_count"] >= len(inodes), "something else than the server answered"


def test_it_cannot_change_anything(guest: Guest, folder: Path) -> None:
    """Files would be lost on a server that says it took them."""
    before = sorted(folder.rglob("*"))
    with mounted(guest, folder):
        for command in (
            ("touch", f"{POINT}/new"),
            ("rm", f"{POINT}/of 1 B"),
            ("sh", "-c", f"echo x >> '{POINT}/of 1 B'"),
        ):
            with pytest.raises(FsgreenError, match=r"Read-only file system|Permission denied"):
                ask(guest, *command)
    assert sorted(folder.rglob("*")) == before
