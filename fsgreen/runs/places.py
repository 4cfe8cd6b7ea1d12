"""Levels of factors in the names of files: `--path '{file_system}/{option}-{block}.json'`."""

from __future__ import annotations

import re

from fsgreen.errors import FsgreenError, unknown
from fsgreen.runs.meanings import LEVELS

FIELD = re.compile(r"\{([^{}]*)\}|(\*)")


def path_pattern(text: str) -> re.Pattern[str]:
    """Return what matches the end of a file's path; `*` is any part of a name.

    Raises FsgreenError for a field that is no factor, or that stands twice.
    """
    parts, end, seen = [], 0, set()
    for part in FIELD.finditer(text):
        parts.append(re.escape(text[end : part.start()]))
        end = part.end()
        name = part[1]
        if part[2]:
            parts.append("[^/]*?")
            continue
        if name not in LEVELS:
            raise unknown(
                "factor in --path", name, LEVELS, next_step="--path '{file_system}/{option}-*.json'"
            )
        if name in seen:
            raise FsgreenError(f"{{{name}}} stands twice in --path", next_step="name it once")
        seen.add(name)
        parts.append(f"(?P<{name}>[^/]+?)")
    parts.append(re.escape(text[end:]))
    return re.compile("(?:^|.*/)" + "".join(parts))


def levels_of(path: str, pattern: re.Pattern[str] | None) -> dict[str, str]:
    """Return the levels that a path names; raises FsgreenError where it does not fit."""
    if pattern is None:
        return {}
    match = pattern.fullmatch(path)
    if match is None:
        raise FsgreenError(
            "the path does not fit --path",
            where=path,
            next_step="for example --path '{file_system}/{option}-*.json'",
        )
    return match.groupdict()
