"""Writes cpio archives in the format newc, which the kernel unpacks into its first root.

Same input, same bytes. The format is in the kernel's
Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import IO

MAGIC = "070701"
LAST = "TRAILER!!!"
DIRECTORY, FILE, CONSOLE = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o644, stat.S_IFCHR | 0o600


class Archive:
    """An archive that is written into a file. All entries belong to root and have no times."""

    def __init__(self, into: IO[bytes]) -> None:
        self._into = into
        self._count = 0

    def folder(self, name: str) -> None:
        """Add an empty folder. Its parents must be added before it."""
        self._entry(name, DIRECTORY, b"")

    def file(self, name: str, content: bytes, *, program: bool = False) -> None:
        """Add a file; a `program` is executable."""
        self._entry(name, FILE | (0o111 if program else 0), content)

    def console(self) -> None:
        """Add the console, the device to which the first program writes."""
        self._entry("dev/console", CONSOLE, b"", device=(5, 1))

    def tree(self, folder: Path, name: str) -> None:
        """Add a folder with all of its content, under the given name."""
        self.folder(name)
        for path in sorted(folder.rglob("*")):
            inside = f"{name}/{path.relative_to(folder)}"
            if path.is_dir():
                self.folder(inside)
            else:
                self.file(inside, path.read_bytes(), program=path.stat().st_mode & 0o100 != 0)

    def end(self) -> None:
        """Close the archive. Another archive may follow in the same file."""
        self._entry(LAST, 0, b"")

    def _entry(
        self, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)
    ) -> None:
        self._count += 1
        coded = name.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        numbers = (self._count, mode, 0, 0, links, 0, len(content), 0, 0, *device, len(coded), 0)
        header = MAGIC + "".join(f"{number:08x}" for number in numbers)
        self._write(header.encode() + coded)
        self._write(content)

    def _write(self, part: bytes) -> None:
        """Write a part, padded with zeros to a multiple of four bytes."""
        self._into.write(part)
        self._into.write(bytes(-len(part) % 4))
