"""A configuration: a file system with its option, written `ext3/dtlg`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsgreen.design import DEFAULT, Cell


def configuration(file_system: str, option: str = DEFAULT) -> Cell:
    """Return the levels of a file system with its option."""
    return Cell(file_system=file_system, option=option)


def parse(text: str) -> Cell:
    """Return the configuration written as `ext3/dtlg`, or as `ext3` with its defaults."""
    file_system, _, option = text.partition("/")
    return configuration(file_system, option or DEFAULT)


def label(cell: Mapping[str, Any]) -> str:
    """Return the configuration of a cell as text: `ext3/dtlg`."""
    return f"{cell['file_system']}/{cell['option']}"
