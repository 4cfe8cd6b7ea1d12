"""Programs in a guest run as if they ran here: the guest's side is played by a thread."""

import array
import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from patience import wait_for

from fsgreen.devices.vm import launch
from fsgreen.devices.vm.wire import PROGRAMS, Channel, Ended
from fsgreen.stacks.guest import programs


def play(listening: socket.socket) -> None:
    """Run what comes on a port, as the guest does, but by the clock of this machine."""
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(Ended):
                channel = Channel(connection.fileno())
                programs.run(channel, channel.receive()["run"])


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / PROGRAMS[0]))
        listening.listen()
        threading.Thread(target=play, args=(listening,), daemon=True).start()
        yield tmp_path
        listening.shutdown(socket.SHUT_RDWR)


def taken(pipe: IO[bytes]) -> bool:
    """Return whether what was written to a pipe has been read."""
    unread = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, unread)
    return unread[0] == 0


def launcher(folder: Path, *command: str) -> list[str]:
    return [sys.executable, "-P", "-m", "fsgreen.devices.vm.launch", str(folder), *command]


def test_input_output_errors_and_status_pass_through(folder: Path) -> None:
    command = launcher(folder, "sh", "-c", "cat; echo wrong >&2; exit 3")
    done = subprocess.run(command, input=b"\x00\xffbytes\n", capture_output=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (b"\x00\xffbytes\n", b"wrong\n", 3)


def test_a_large_report_arrives_whole(folder: Path) -> None:
    """The report of a workload has hundreds of kilobytes."""
    command = launcher(folder, "head", "--bytes", "3000000", "/dev/zero")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stdout == bytes(3_000_000)


def test_a_signal_reaches_the_program_which_may_still_report(folder: Path) -> None:
    """A workload that is stopped writes what it did so far."""
    script = "trap 'echo partial; exit 4' TERM; echo begun; while :; do sleep 0.05; done"
    with subprocess.Popen(
        launcher(folder, "sh", "-c", script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"begun\n"
        started.send_signal(signal.SIGTERM)
        assert started.stdout.read() == b"partial\n"
        assert started.wait() == 4


def test_a_program_that_a_signal_ended_is_told_so(folder: Path) -> None:
    done = subprocess.run(launcher(folder, "sh", "-c", "kill -KILL $$"), check=False)
    assert done.returncode == -signal.SIGKILL


def test_how_a_program_ended_is_told_though_input_comes_too_late(tmp_path: Path) -> None:
    """The guest may have closed the port when the end of the input is passed on."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / PROGRAMS[0]))
        listening.listen()
        with subprocess.Popen(
            launcher(tmp_path, "short"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as started:
            assert started.stdin is not None and started.stdout is not None
            connection, _ = listening.accept()
            with connection:
                channel = Channel(connection.fileno())
                assert channel.receive()["run"] == ["short"]
                connection.shutdown(socket.SHUT_RD)
                channel.send(out="done\n")
                assert started.stdout.readline() == b"done\n"
                os.write(started.stdin.fileno(), b"too late")
                wait_for(lambda: taken(started.stdin), "the input is not read")
                channel.send(status=3)
            assert started.wait() == 3


def test_a_program_that_is_missing_is_named(folder: Path) -> None:
    done = subprocess.run(launcher(folder, "no-such-program"), capture_output=True, check=False)
    assert done.returncode == 127
    assert b"no-such-program: No such file" in done.stderr


def test_without_a_guest_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(launcher(tmp_path, "true"), capture_output=True, check=False)
    assert done.returncode == launch.NO_GUEST
    assert b"the guest has gone" in done.stderr


def test_a_program_ends_with_the_one_who_started_it(folder: Path, tmp_path: Path) -> None:
    """A harness that is killed leaves no load in a guest."""
    mark = tmp_path / "running"
    script = f"touch {mark}; trap 'rm {mark}' HUP TERM; echo begun; sleep 1000 & wait"
    with subprocess.Popen(
        launcher(folder, "sh", "-c", script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"begun\n"
        children = processes_of(str(mark))
        assert children
        started.kill()
    wait_for(lambda: not processes_of(str(mark)), "the program goes on")


def processes_of(mark: str) -> list[int]:
    """The processes, but the launcher, that have a mark in their command."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = file.read_bytes()
            if mark.encode() in words and b"fsgreen.devices.vm.launch" not in words:
                found.append(int(file.parent.name))
    return found
