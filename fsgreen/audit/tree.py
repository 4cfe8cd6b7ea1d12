"""The kernel's small files, below a root: `/`, or a tree that a test made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Tree:
    """Files by their path below `root`, written without the first slash: `proc/meminfo`."""

    root: Path = Path("/")

    def path(self, name: str) -> Path:
        """Return where a file of the tree is."""
        return self.root / name

    def raw(self, name: str) -> bytes | None:
        """Return what a file holds, None where it cannot be read."""
        try:
            return self.path(name).read_bytes()
        except OSError:
            return None

    def text(self, name: str) -> str | None:
        """Return what a file holds, without blanks around it; None where it cannot be read."""
        content = self.raw(name)
        return None if content is None else content.decode("utf-8", "replace").strip()

    def number(self, name: str) -> int | None:
        """Return the whole number that a file holds, None where there is none."""
        text = self.text(name) or ""
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None

    def choice(self, name: str) -> str | None:
        """Return the word in brackets (`none [bfq]`), by which the kernel marks what is chosen."""
        chosen = re.search(r"\[([\w-]+)\]", self.text(name) or "")
        return chosen[1] if chosen else None

    def choices(self, name: str) -> list[str]:
        """Return all words that a file offers, with or without brackets."""
        return re.findall(r"[\w-]+", self.text(name) or "")

    def folders(self, name: str, holding: str = "") -> list[str]:
        """Return the sorted names in a folder, only of those that hold a file `holding`."""
        try:
            names = sorted(entry.name for entry in self.path(name).iterdir())
        except OSError:
            return []
        return [entry for entry in names if (self.path(name) / entry / holding).exists()]


HERE = Tree()
"""This machine."""
