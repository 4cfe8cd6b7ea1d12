"""Reads from the page cache over TCP loopback: `fsgreen-nfs serve` beside nfs-ganesha.

One client, `fsgreen-nfs read`, reads the same files of both servers by 64 KiB, with several calls
on one connection under way. Nothing comes from a disk. nfs-ganesha needs root and registers with
rpcbind; all run in a network of their own, which nobody else reaches, and rpcbind with them.
They come by apt-get install nfs-ganesha nfs-ganesha-vfs rpcbind iproute2.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import command, nfs
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen.errors import FsgreenError

PACKAGES = "apt-get install nfs-ganesha nfs-ganesha-vfs rpcbind iproute2"
CLONE_NEWNET = 0x40000000
"""From linux/sched.h; the standard library has a name for it from Python 3.12 on."""
RPCBIND_PORT = 111
OURS, GANESHA = "fsgreen-nfs", "nfs-ganesha"
FILES = ("a", "b", "c", "d")
TARGET_X = 1.0
READY_S = 30.0
CONFIG = """
NFS_CORE_PARAM {{
    NFS_Port = {nfs}; MNT_Port = {mount}; Protocols = 3; Enable_NLM = false;
    Enable_RQUOTA = false;
}}
EXPORT {{
    Export_Id = 1; Path = {folder}; Pseudo = {folder}; Access_Type = RO; Squash = No_root_squash;
    SecType = none, sys; Protocols = 3; Transports = TCP; FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = WARN; }}
"""


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="sudo python -m bench.nfs_throughput --rounds 5", rounds=5
    )
    parser.add_argument(
        "--mib", type=command.positive, default=256, help="of each of 4 files (default: 256)"
    )
    parser.add_argument("--read-kib", type=command.positive, default=64, help="(default: 64)")
    parser.add_argument("--daemons", type=command.positive, default=4, help="(default: 4)")
    return parser.parse_args()


def program(name: str) -> str:
    """Return the path of a program; raises FsgreenError where it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        raise FsgreenError(f"{name} is not installed", next_step=PACKAGES)
    return found


def is_listening(port: int) -> bool:
    """Tell whether someone takes connections at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_ports(count: int) -> list[int]:
    """Return ports that nobody has now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server takes connections."""
    deadline_s = time.monotonic() + READY_S
    while not is_listening(port):
        if process.poll() is not None or time.monotonic() > deadline_s:
            said = log.read_text(errors="replace") if log.exists() else ""
            raise FsgreenError(f"it does not start: {said[-2000:]}", where=str(process.args))
        time.sleep(0.05)


@contextlib.contextmanager
def running(words: list[str], ports: tuple[int, ...], log: Path) -> Iterator[None]:
    """Run a server that stays in the foreground, from when it listens to the end."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for port in ports:
                wait_for(port, process, log)
            yield
        finally:
            process.terminate()


def leave_network() -> None:
    """Go on in a network that has but the way to this process and those that it starts."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise FsgreenError(f"no network of its own: {os.strerror(ctypes.get_errno())}")
    run([program("ip"), "link", "set", "lo", "up"])


@contextlib.contextmanager
def ganesha(files: Path, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve files by nfs-ganesha; yield its address and the words that the client needs."""
    with contextlib.ExitStack() as stack:
        rpcbind = [program("rpcbind"), "-f"]
        stack.enter_context(running(rpcbind, (RPCBIND_PORT,), folder / "none"))
        port, mount = free_ports(2)
        config, log = folder / "ganesha.conf", folder / "ganesha.log"
        config.write_text(CONFIG.format(nfs=port, mount=mount, folder=files))
        words = [program("ganesha.nfsd"), "-F", "-f", str(config), "-L", str(log)]
        words += ["-p", str(folder / "pid")]
        stack.enter_context(running(words, (port, mount), log))
        yield f"127.0.0.1:{port}", ["--mount-port", str(mount), "--export", str(files)]


def main() -> None:
    """Print the rate of each server and the ratio."""
    asked = arguments()
    program("ganesha.nfsd")
    if os.geteuid() != 0:
        raise FsgreenError("nfs-ganesha needs root", next_step="become root")
    leave_network()
    client = ["--read-kib", str(asked.read_kib), "--workers", "8", "--ahead", "4"]
    with contextlib.ExitStack() as stack:
        made = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=asked.directory)))
        files = made / "files"
        files.mkdir()
        for name in FILES:
            (files / name).write_bytes(os.urandom(1 << 20) * asked.mib)
        ours, _ = stack.enter_context(nfs.serving(files, ["--daemons", str(asked.daemons)]))
        theirs, words = stack.enter_context(ganesha(files, made))

        def read(address: str, more: list[str]) -> float:
            rate: float = nfs.read(address, FILES, [*client, *more])["mb_s"]
            return rate

        ways: dict[str, Callable[[], float]] = {
            OURS: partial(read, ours, []),
            GANESHA: partial(read, theirs, words),
        }
        found = interleaved(ways, asked.rounds)
    widths = (14, 26)
    print_row(("server", "MB/s"), widths)
    for name, rates in found.items():
        print_row((name, f"{Spread.of(rates):.0f}"), widths)
    ratio = Spread.of(a / b for a, b in zip(found[OURS], found[GANESHA], strict=True))
    print(f"ratio {ratio:.2f}, at least {TARGET_X:g}: {met(ratio.median >= TARGET_X)}")


if __name__ == "__main__":
    command.run(main)
