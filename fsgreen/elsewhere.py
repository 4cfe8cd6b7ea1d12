"""Programs that run elsewhere than on this machine: in a guest, while a block has entered it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol


class Place(Protocol):
    """Where programs can run."""

    def run(self, command: Sequence[str]) -> str:
        """Run a tool to its end and return what it printed; raises as `commands.run` does."""

    def launcher(self, command: Sequence[str]) -> Sequence[str]:
        """Return the command of this machine that runs a program there.

        Input, output, signals and exit status pass through it; where it ends, the program does.
        """

    def put(self, file: Path) -> str:
        """Have a file of this machine there, too; return its path there."""


_entered: ContextVar[Place | None] = ContextVar("place", default=None)


@contextmanager
def entered(place: Place) -> Iterator[None]:
    """Run there what the block runs through `commands.run` and as a program of a workload."""
    token = _entered.set(place)
    try:
        yield
    finally:
        _entered.reset(token)


def place() -> Place | None:
    """Return where programs run now, None for this machine."""
    return _entered.get()


def named(command: Sequence[str]) -> Sequence[str]:
    """Return a command whose program is found where programs run now: elsewhere by its name."""
    program, *arguments = command
    return command if place() is None else [Path(program).name, *arguments]


def launched(command: Sequence[str]) -> Sequence[str]:
    """Return the command of this machine that runs a program where programs run now."""
    there = place()
    return command if there is None else there.launcher(command)


def path_of(file: Path) -> str:
    """Return the path by which programs that run now find a file of this machine."""
    there = place()
    return str(file) if there is None else there.put(file)


def text_of(file: Path) -> str:
    """Return the text of a file of the kernel, as programs that run now would read it."""
    there = place()
    return file.read_text() if there is None else there.run(["cat", str(file)])


def write_text(file: Path, text: str) -> None:
    """Write to a file of the kernel, as programs that run now would.

    Raises OSError here, and FsgreenError elsewhere; so do the next two.
    """
    there = place()
    if there is None:
        file.write_text(text)
    else:
        there.run(["sh", "-c", 'echo "$1" >"$0"', str(file), text])


def make_folder(folder: Path) -> None:
    """Make a folder where programs run now."""
    there = place()
    if there is None:
        folder.mkdir()
    else:
        there.run(["mkdir", str(folder)])


def remove_folder(folder: Path) -> None:
    """Remove an empty folder where programs run now."""
    there = place()
    if there is None:
        folder.rmdir()
    else:
        there.run(["rmdir", str(folder)])
