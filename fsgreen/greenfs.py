"""Volumes of GreenFS from Python: docs/greenfs.md says what they are."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from fsgreen import paths
from fsgreen.errors import FsgreenError

POLL_S = 0.05
LIMIT_S = 120.0
"""A volume that does not stand as expected by then never will."""
GUARD = ("setpriv", "--pdeathsig")
"""Has a program end when this process is killed (util-linux), by the signal that follows."""
WITH_PARENT = ("sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
"""Does not begin if this process, whose number follows, was killed before that."""
HOST = "127.0.0.1"
"""Where a server of ours listens: nobody comes there from another machine."""
KEYS = "GREENFS_KEYS"
"""Names the folder of a client's keys to the program."""


def program() -> str:
    """Return the path of the program `greenfs`; raises FsgreenError where it is not installed."""
    found = paths.program("greenfs")
    if found is None:
        raise FsgreenError("the program greenfs is not installed", next_step=paths.BUILD)
    return found


def ask(*arguments: str | os.PathLike[str], keys: Path | None = None) -> str:
    """Return what the program prints: `ask("history", path)` has the versions of a file.

    `keys` is the folder of a client's keys, for a remote that is a server.

    Raises FsgreenError if it is not installed, or fails: in its own words.
    """
    done = subprocess.run(
        [program(), *arguments], capture_output=True, text=True, check=False, env=_with(keys)
    )
    if done.returncode:
        raise _failed(done.stderr or done.stdout)
    return done.stdout


def scratch() -> Path:
    """Return a new, empty folder among those for temporary files."""
    return Path(tempfile.mkdtemp(prefix="greenfs-"))


class Server:
    """A folder that is served as a remote, to this machine alone and to who has its keys.

    `folder` is what is served, and `keys` is for the keys, which are made in it; both are made if
    they are not there. `lock_fd` is as of a `Mount`. `remote` is the address, as `--remote` takes
    it. Raises FsgreenError if it cannot be served: in the words of the program.
    """

    def __init__(self, folder: Path, keys: Path, *, lock_fd: int | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if not keys.exists():
            ask("certificates", keys, "--host", HOST)
        own = keys / "server"
        command = ["serve", str(folder), "--listen", f"{HOST}:0"]
        command += ["--cert", str(own / "cert.pem"), "--key", str(own / "key.pem")]
        self._running, said = _begun([*command, "--clients", str(keys / "ca.pem")], lock_fd=lock_fd)
        self.remote = f"greenfs://{said.split()[-1]}"
        self.keys = keys / "client"

    @property
    def runs(self) -> bool:
        """Whether it has not ended; one that is silent runs, too."""
        return self._running.poll() is None

    def be_silent(self) -> None:
        """Answer nothing until `answer`, as one whose cable is out."""
        self._running.send_signal(signal.SIGSTOP)

    def answer(self) -> None:
        """Answer again, also what was asked meanwhile by who still waits."""
        self._running.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill the program, as a server that crashes."""
        _kill(self._running)


class Mount:
    """A mounted volume; `with` unmounts it in the end.

    Everything is in `flash`, and programs work `at` another folder; folders are made if they are
    not there. `remote` is the folder of the server, or one that is served; `disk` that of the disk
    that sleeps. The disk is woken at most `spin_ups` times in any 24 hours, and put to sleep when
    nobody has used it for `sleep_after_s` (0 leaves it alone); the program's own values by default.
    At most `flash_mib` of files are on flash; what is more is given up there and read from the
    remote. `flash_key` is the file of the key that encrypts flash, as `ask("flash", "key", file)`
    makes it. `lock_fd` is the owner lock of a work folder, of which nothing is kept: it stays taken
    until the program has ended, which is killed when this process is.

    Raises FsgreenError if it cannot be mounted: in the words of the program.
    """

    def __init__(
        self,
        flash: Path,
        at: Path,
        *,
        remote: Path | Server | None = None,
        disk: Path | None = None,
        spin_ups: int | None = None,
        sleep_after_s: float | None = None,
        flash_mib: int | None = None,
        flash_key: Path | None = None,
        lock_fd: int | None = None,
    ) -> None:
        self.flash, self.at = flash, at
        command = ["mount", "--foreground", "--flash", str(flash)]
        command += [] if spin_ups is None else ["--spin-ups", str(spin_ups)]
        command += [] if sleep_after_s is None else ["--sleep-after", str(sleep_after_s)]
        command += [] if flash_mib is None else ["--flash-mib", str(flash_mib)]
        command += [] if flash_key is None else ["--flash-key", str(flash_key)]
        keys = None
        if isinstance(remote, Server):
            command += ["--remote", remote.remote]
            keys = remote.keys
        for role, folder in (("remote", remote), ("disk", disk)):
            if isinstance(folder, Path):
                folder.mkdir(parents=True, exist_ok=True)
                command += [f"--{role}", str(folder)]
        flash.mkdir(parents=True, exist_ok=True)
        # A mount that was killed is still there, and answers nothing: the next one takes it away.
        with contextlib.suppress(FileExistsError):
            at.mkdir(parents=True)
        self._running, _ = _begun([*command, str(at)], keys=keys, lock_fd=lock_fd)

    def status(self) -> str:
        """Return how the volume stands: what each branch holds and lacks."""
        return ask("status", "--flash", self.flash)

    def stats(self) -> dict[str, int | None]:
        """Return what is on flash and what was read elsewhere: `flash_b`, `from_remote_b` ..."""
        stats: dict[str, int | None] = json.loads(ask("stats", "--flash", self.flash))
        return stats

    def wait_for(self, said: str) -> str:
        """Wait until the status says something, such as "holds all"; return it then.

        Raises FsgreenError if it does not say so within two minutes.
        """
        until_s = time.monotonic() + LIMIT_S
        while said not in (status := self.status()):
            if time.monotonic() > until_s:
                raise FsgreenError(
                    f"the volume does not come to say {said!r}: {status.strip()}",
                    where=self.flash,
                    next_step=f"read {self.flash / '.greenfs' / 'log'}",
                )
            time.sleep(POLL_S)
        return status

    def kill(self) -> None:
        """Kill the program that serves it, as a server that crashes."""
        _kill(self._running)

    def unmount(self) -> None:
        """Bring up what can be reached, and end."""
        if self._running.poll() is None:
            ask("umount", self.at)
            self._running.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unmount()


def _begun(
    arguments: Sequence[str], *, keys: Path | None = None, lock_fd: int | None = None
) -> tuple[subprocess.Popen[str], str]:
    """Start the program; return it once it has said a line, with that.

    It ends when this process is killed. Raises FsgreenError where it ends without a line.
    """
    command = [*GUARD, "TERM" if lock_fd is None else "KILL", "--"]
    command += [*WITH_PARENT, str(os.getpid()), program(), *arguments]
    with tempfile.TemporaryFile("w+") as errors:
        running = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            pass_fds=() if lock_fd is None else (lock_fd,),
            env=_with(keys),
            # Ctrl-C is for this process, which then unmounts.
            start_new_session=True,
        )
        assert running.stdout is not None
        try:
            with running.stdout as output:
                said = output.readline()
        except BaseException:
            _kill(running)
            raise
        if not said:
            running.wait()
            errors.seek(0)
            raise _failed(errors.read())
    return running, said


def _with(keys: Path | None) -> dict[str, str] | None:
    """Return the environment of a program that has such keys; None where it is this one's."""
    return None if keys is None else {**os.environ, KEYS: str(keys)}


def _kill(running: subprocess.Popen[str]) -> None:
    running.kill()
    running.wait()


def _failed(said: str) -> FsgreenError:
    what, _, rest = said.strip().removeprefix("greenfs: ").partition("\n  where: ")
    where, _, remedy = rest.partition("\n  next:  ")
    return FsgreenError(
        f"greenfs failed: {what or 'it ended without a word'}",
        where=where or None,
        next_step=remedy or "greenfs --help",
    )
