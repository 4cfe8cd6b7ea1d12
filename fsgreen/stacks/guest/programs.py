"""In the guest: runs programs for the host, one at a time on each port."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fsgreen.devices.vm.wire import ALIVE_S, PIECE_B, Channel, Ended

CLONE_NEWTIME = 0x80
OFFSETS = Path("/proc/self/timens_offsets")
LATER_S = 0.2
"""Interval of looks at a port that has no connection."""

NS_PER_S = 1_000_000_000


def serve(port: Path) -> None:
    """Run the programs that are requested on a port. It never returns."""
    fd = os.open(port, os.O_RDWR)
    channel = Channel(fd)
    while True:
        try:
            request = channel.receive()
        except Ended:
            channel.forget()
            time.sleep(LATER_S)
            continue
        if "run" not in request:
            continue  # a message for a program that has ended
        ahead_ns = request["now_ns"] - time.monotonic_ns()
        _in_child(partial(_with_clock, channel, request["run"], ahead_ns))


def _with_clock(channel: Channel, command: list[str], ahead_ns: int) -> None:
    """Run a program with the clock of the host, so that records have one clock.

    Only children that share no memory enter a new time namespace (time_namespaces(7)). Children of
    `subprocess` may share memory, so the program runs in a fork.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWTIME):
        raise OSError(ctypes.get_errno(), "unshare")
    seconds, nanoseconds = divmod(ahead_ns, NS_PER_S)
    OFFSETS.write_text(f"monotonic {seconds} {nanoseconds}\n")
    _in_child(partial(run, channel, command))


def _in_child(work: Callable[[], None]) -> None:
    """Call a function in a forked process, and wait for its end."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        with contextlib.suppress(Ended):
            work()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def run(channel: Channel, command: list[str]) -> None:
    """Run a program, and pass on its input, output, signals and exit status."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        channel.send(err=f"{command[0]}: {error.strerror}\n")
        channel.send(status=127)
        return
    with process:
        try:
            _relay(channel, process)
            channel.send(status=process.wait())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _relay(channel: Channel, process: subprocess.Popen[bytes]) -> None:
    """Pass on messages until the program has closed its output."""
    assert process.stdin and process.stdout and process.stderr
    outputs = {process.stdout.fileno(): "out", process.stderr.fileno(): "err"}
    said_s = time.monotonic()
    while outputs:
        port = [] if channel.waiting() else [channel.fileno()]
        ready = select.select([*port, *outputs], [], [], 0 if not port else ALIVE_S)[0]
        for fd in ready:
            if fd in outputs:
                if piece := os.read(fd, PIECE_B):
                    channel.send(**{outputs[fd]: piece.decode("latin-1")})
                    said_s = time.monotonic()
                else:
                    del outputs[fd]
        if channel.fileno() in ready or not port:
            _obey(channel.receive(), process)
        if time.monotonic() - said_s > ALIVE_S:
            channel.send(alive=True)
            said_s = time.monotonic()


def _obey(message: dict[str, Any], process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    if "run" in message:
        raise Ended("the one who started this program has gone")
    with contextlib.suppress(BrokenPipeError, ValueError):
        if "in" in message:
            process.stdin.write(message["in"].encode("latin-1"))
        elif "eof" in message:
            process.stdin.close()
        elif "signal" in message:
            process.send_signal(message["signal"])


def port_of(name: str) -> Path:
    """Return the device of a port by its name, once the kernel has found it."""
    deadline_s = time.monotonic() + 30
    while time.monotonic() < deadline_s:
        for file in Path("/sys/class/virtio-ports").glob("*/name"):
            if file.read_text().strip() == name:
                return Path("/dev") / file.parent.name
        time.sleep(0.02)
    sys.exit(f"there is no port {name}")
