"""Runs a program in a guest as if it ran here: `python -m fsgreen.devices.vm.launch FOLDER ...`.

Input, output, signals and exit status pass through. The program in the guest ends with this one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fsgreen.devices.vm.wire import PIECE_B, PROGRAMS, Channel, Ended, write_whole

NO_GUEST = 125
"""The exit status if the guest, or the connection to it, is gone."""

SILENT_S = 120.0
"""Longest silence of a slow guest."""


@contextlib.contextmanager
def connected(folder: Path, name: str) -> Iterator[socket.socket]:
    """Connect to a port of the guest by its socket in a folder. The path may have any length."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(f"/proc/self/fd/{fd}/{name}")
            yield connection
    finally:
        os.close(fd)


@contextlib.contextmanager
def free_port(folder: Path) -> Iterator[str]:
    """Lock a port on which no program runs; yield its name. Raises `Ended` if all are in use."""
    for name in PROGRAMS:
        with (folder / f"{name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield name
            return
    raise Ended(f"{len(PROGRAMS)} programs run in the guest already")


def main(arguments: Sequence[str]) -> int:
    """Run a program and return its exit status."""
    folder, *command = arguments
    told, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    try:
        with free_port(Path(folder)) as name, connected(Path(folder), name) as connection:
            channel = Channel(connection.fileno())
            channel.send(run=command, now_ns=time.monotonic_ns())
            status = _relay(channel, told)
    except (Ended, OSError) as error:
        print(f"the guest has gone: {error}", file=sys.stderr)
        return NO_GUEST
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _relay(channel: Channel, told: socket.socket) -> int:
    """Pass on input, output and signals until the program has ended; return its exit status."""
    sources = [channel.fileno(), told.fileno(), sys.stdin.fileno()]
    while True:
        ready = sources[:1] if channel.waiting() else select.select(sources, [], [], SILENT_S)[0]
        if not ready:
            raise Ended(f"it has said nothing for {SILENT_S:.0f} s")
        # A program that has ended takes no more input, but its exit status must still be read.
        with contextlib.suppress(Ended):
            if told.fileno() in ready:
                for number in told.recv(PIECE_B):
                    channel.send(signal=number)
            if sys.stdin.fileno() in ready:
                piece = os.read(sys.stdin.fileno(), PIECE_B)
                if piece:
                    channel.send(**{"in": piece.decode("latin-1")})
                else:
                    sources.remove(sys.stdin.fileno())
                    channel.send(eof=True)
        if channel.fileno() in ready:
            message = channel.receive(SILENT_S)
            for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
                if name in message:
                    write_whole(stream.fileno(), message[name].encode("latin-1"))
            if "status" in message:
                return int(message["status"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
