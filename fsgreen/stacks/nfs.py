"""NFS over a mounted file system of the kernel: one folder of it is exported, and mounted again.

Server and client are those of the guest's kernel. They use NFS 4.2, the only version that needs no
other service, over a loopback interface with the packet size of Ethernet. A cell may delay the
packets, or limit each connection. The state of the server is lost with the guest.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.stacks.base import Mount
from fsgreen.stacks.nfslevels import Asked

EXPORTED = "exported"
"""The folder of the server's files."""

MODULES = ("nfsd", "nfsv4", "sch_netem", "sch_fq")
CONTROL = Path("/proc/fs/nfsd")
STATE = Path("/var/lib/nfs")
"""The folder in which the tools of the server keep the list of exports."""

HOST, PORT = "127.0.0.1", 2049
MTU_B = 1500

SERVER = "rw,sync,no_subtree_check,no_root_squash,fsid=0"
"""Export options. The folder is the root of all exports (fsid=0), and root stays root."""

CLIENT = ("vers=4.2", "proto=tcp", "soft", "timeo=100")
"""Mount options. If the server is gone, there is an error after half a minute."""

THREADS = 8
READY_S = 60.0
ANEW = commands.remedy("rpc.nfsd")

TRANSPORT = re.compile(r"^\s*xprt:\s+tcp \d+ \d+ (\d+) ", re.M)
"""Matches a connection in /proc/self/mountstats. The third number counts how often it was made."""


class Export:
    """A folder of a mounted file system, while it is exported and mounted again.

    Every method may be called again, in any order, without harm.

    The work folder gets the mount point; `lock_fd` is its owner lock. `files` is the folder of the
    server's files, once it has been exported.
    """

    def __init__(self, work: Path, lock_fd: int) -> None:
        self._at, self._lock_fd = work / "mounted", lock_fd
        self.files = work / EXPORTED
        self._mountd: subprocess.Popen[bytes] | None = None
        self._shaped = False

    def mount(self, below: Mount, asked: Asked) -> Mount:
        """Export the folder and mount it; return the mount.

        `below` is the file system that has the folder, and `asked` has the settings of client and
        network. Raises FsgreenError if the kernel or its tools have no NFS, or if the mount does
        not have the settings.
        """
        self.files = below.directory / EXPORTED
        self._shape(asked)
        self._serve()
        self._at.mkdir(exist_ok=True)
        several = asked.connections
        as_mounted = mounts.mount(
            f"{HOST}:/",
            self._at,
            "nfs4",
            (*CLIENT, *([f"nconnect={several}"] if several > 1 else [])),
            lock_fd=self._lock_fd,
        )
        self._set_read_ahead(asked.read_ahead_kib)
        self._require_connections(asked.connections)
        stacked = {
            "program": "nfsd",
            "on": below.driver,
            "threads": THREADS,
            "mtu_b": MTU_B,
            "mount_options": list(as_mounted),
            **asdict(asked),
        }
        return replace(below, directory=self._at, stacked=stacked, below=below.directory)

    def kill(self) -> None:
        """Unmount the folder and end the server. Raises `FsgreenError` while a program uses it."""
        for entry in mounts.under(self._at):
            mounts.unmount(entry.point, lock_fd=self._lock_fd)
        if self._mountd is not None:
            commands.run(["rpc.nfsd", "0"])
            self._mountd.kill()
            self._mountd.wait()
            self._mountd = None
        if self._shaped:
            commands.run(["tc", "qdisc", "delete", "dev", "lo", "root"])
            self._shaped = False

    def _shape(self, asked: Asked) -> None:
        commands.run(["modprobe", "--all", *MODULES], next_step=ANEW)
        commands.run(["ip", "link", "set", "dev", "lo", "mtu", str(MTU_B), "up"])
        if asked.discipline:
            commands.run(["tc", "qdisc", "replace", "dev", "lo", "root", *asked.discipline])
            self._shaped = True

    def _serve(self) -> None:
        if not (CONTROL / "threads").exists():
            commands.run(["mount", "--types", "nfsd", "nfsd", str(CONTROL)])
        if mounts.holding(STATE).point != STATE:
            commands.run(["mount", "--types", "tmpfs", "nfs", str(STATE)])
            for name in ("etab", "rmtab"):
                (STATE / name).touch()
        self.files.mkdir(exist_ok=True)
        commands.run(["exportfs", "-i", "-o", SERVER, f"*:{self.files}"])
        self._start_mountd()
        version = ["--no-nfs-version", "3"]
        place = ["--host", HOST, "--port", str(PORT)]
        commands.run(["rpc.nfsd", *version, *place, str(THREADS)], next_step=ANEW)
        # Without this, the server would wait for clients of a previous server.
        (CONTROL / "v4_end_grace").write_text("Y")

    def _start_mountd(self) -> None:
        """Start rpc.mountd, which tells the kernel who may mount what; wait until it is ready."""
        with tempfile.TemporaryFile() as said:
            self._mountd = subprocess.Popen(
                ["rpc.mountd", "--foreground", "--no-nfs-version", "3"],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
            deadline_s = time.monotonic() + READY_S
            while not _answers(self._mountd.pid):
                if self._mountd.poll() is not None or time.monotonic() > deadline_s:
                    said.seek(0)
                    words = said.read().decode(errors="replace").strip() or "without a word"
                    raise FsgreenError(
                        f"rpc.mountd does not come up: {words}", where=self.files, next_step=ANEW
                    )
                time.sleep(0.02)

    def _set_read_ahead(self, asked_kib: int) -> None:
        device = self._at.stat().st_dev
        file = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
        file.write_text(f"{asked_kib:.0f}")
        found_kib = int(file.read_text())
        if found_kib != asked_kib:
            raise FsgreenError(
                f"the client reads ahead {found_kib} KiB, asked for {asked_kib}",
                where=file,
                next_step="another level of nfs_read_ahead_kib in the study",
            )

    def _require_connections(self, asked: int) -> None:
        """Raise `FsgreenError` unless the client has this many connections.

        The client makes a connection at its first use, so each is used first.
        """
        for _ in range(2 * asked):
            os.statvfs(self._at)
        made = TRANSPORT.findall(Path("/proc/self/mountstats").read_text())
        found = sum(int(times) > 0 for times in made)
        if found != asked:
            raise FsgreenError(
                f"the client has {found} connections, asked for {asked}",
                where=self._at,
                next_step="another level of nfs_connections in the study",
            )


def _answers(pid: int) -> bool:
    """Return whether a process has opened the channel on which the kernel asks rpc.mountd."""
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if str(link.readlink()).endswith("nfsd.fh/channel"):
                    return True
    return False
