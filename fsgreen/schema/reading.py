"""Files in YAML and TOML, with the line of each value.

YAML is read as its version 1.2 has it: `on`, `off`, `yes` and `no` are words.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from fsgreen.errors import FsgreenError
from fsgreen.schema.document import Document
from fsgreen.schema.faults import Fault, Place


def read(file: Path, kind: str, next_step: str) -> Document:
    """Read a file in YAML or TOML, by its suffix.

    The file may be the partial file of `durable.whole`. `kind` is what it should be, for errors:
    "study". Raises FsgreenError if there is no such file, or it is neither.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise FsgreenError(
            f"the {kind} cannot be read: {why}", where=file, next_step=next_step
        ) from None
    is_toml = file.name.removesuffix(".partial").endswith(".toml")
    return (_toml if is_toml else _yaml)(file, kind, next_step, text)


# --- YAML ---------------------------------------------------------------------------------------


_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # some builds lack the fast one


def plain(text: str) -> Any:
    """Return the values of a text in YAML that ships, or that DVC wrote: nobody needs its lines."""
    return yaml.load(text, Loader=_SAFE)


_OTHERWISE = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
"""What YAML 1.2 reads in another way than 1.1, or as text."""


class _Loader(_SAFE):  # type: ignore[misc, valid-type]
    """The safe loader, with the booleans of YAML 1.2, which has no dates."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _OTHERWISE]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")
)


def _yaml(file: Path, kind: str, next_step: str, text: str) -> Document:
    loader = _Loader(text)
    lines: dict[Place, int] = {}
    try:
        node = loader.get_single_node()
        lines[()] = 1
        twice = [] if node is None else _note_lines(node, (), lines)
        values = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        what = getattr(error, "problem", None) or "it cannot be read"
        raise FsgreenError(
            f"not YAML: {at}{what}",
            where=file if mark is None else f"{file}:{mark.line + 1}",
            next_step=next_step,
        ) from None
    finally:
        loader.dispose()
    document = Document(file, kind, values, next_step, lines)
    if twice:
        raise document.refusal(twice)
    return document


def _note_lines(node: yaml.Node, place: Place, lines: dict[Place, int]) -> list[Fault]:
    """Note the line of each value below a node; return the keys that stand there twice."""
    lines.setdefault(place, node.start_mark.line + 1)
    twice = []
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = (*place, key.value)
            if below in lines and key.value != "<<":
                twice.append(Fault(below, f"the key {key.value} stands there twice"))
            lines.setdefault(below, key.start_mark.line + 1)
            twice += _note_lines(value, below, lines)
    elif isinstance(node, yaml.SequenceNode):
        for nth, value in enumerate(node.value):
            twice += _note_lines(value, (*place, nth), lines)
    return twice


# --- TOML ---------------------------------------------------------------------------------------

_TABLE = re.compile(r"\s*\[(\[)?\s*([\w.\-\"' ]+?)\s*\]\]?")
_KEY = re.compile(r"\s*([\w\-]+|\"[^\"]*\")\s*=")


def _toml(file: Path, kind: str, next_step: str, text: str) -> Document:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        where = f"{file}:{at[1]}" if at else file
        raise FsgreenError(f"not TOML: {error}", where=where, next_step=next_step) from None
    lines: dict[Place, int] = {(): 1}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = tuple(part.strip(" \"'") for part in header[2].split("."))
            if header[1]:
                nth = sum(
                    place[:-1] == table and isinstance(place[-1], int) for place in lines if place
                )
                table = (*table, nth)
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, key[1].strip('"')), number)
    return Document(file, kind, values, next_step, lines)
