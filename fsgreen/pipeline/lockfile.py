"""One entry of `dvc.lock`, written in place of its earlier one.

DVC reads and writes the whole file for each stage. With hundreds of stages that takes longer than
most stages run.
"""

from __future__ import annotations

from pathlib import Path


def replace_entry(file: Path, entry: str) -> bool:
    """Put the entry of a stage in the place of its earlier one; return whether there was one.

    `entry` is as DVC writes it, with all of its lines indented by two spaces or more. The file
    is replaced at once.
    """
    lines = file.read_text("utf-8").splitlines(keepends=True)
    name = entry.partition("\n")[0] + "\n"
    if name not in lines:
        return False
    begin = lines.index(name)
    inside = (number for number in range(begin + 1, len(lines)) if not _goes_on(lines[number]))
    end = next(inside, len(lines))
    new = file.with_name(f".{file.name}.new")
    new.write_text("".join([*lines[:begin], entry, *lines[end:]]), "utf-8")
    new.replace(file)
    return True


def _goes_on(line: str) -> bool:
    return line.startswith("    ") or not line.strip()
