"""Files that people write, read through a schema: an error names file, line and the nearest key.

A schema is a class below `Declared`. YAML is read as its version 1.2 has it: `on`, `off`, `yes` and
`no` are words.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
import tomllib
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, PlainValidator, TypeAdapter, ValidationError

from fsgreen.errors import FsgreenError

Place = tuple[str | int, ...]
"""Keys and positions from the top of a file down to a value."""

T = TypeVar("T")


def _taking(what: str, sound: Callable[[Any], bool]) -> PlainValidator:
    """Return the validator of a number, which stays the integer or the float that it is."""

    def checked(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float) or not sound(value):
            raise ValueError(f"takes {what}, not {value!r}")
        return value

    return PlainValidator(checked)


Count = Annotated[int, _taking("a whole number from 1 on", lambda x: type(x) is int and x >= 1)]
Positive = Annotated[float, _taking("a number above 0", lambda x: 0 < x < math.inf)]
NotNegative = Annotated[float, _taking("a number from 0 on", lambda x: 0 <= x < math.inf)]


class Declared(BaseModel):
    """What a file, or a part of one, may say; other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Strict(Declared):
    """The same, where texts, finite numbers and truths are not taken for one another."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Fault:
    """Something wrong in a file, and where."""

    place: Place
    what: str


@dataclass(frozen=True)
class Document:
    """The values of a file, and the line that each begins on.

    Attributes
    ----------
    file : Path or str
        Where it was read from; where there is no file, whose values they are.
    kind : str
        What it should be, for errors: "study".
    values : Any
        Mappings, lists and scalars.
    next_step : str
        What to do about an error.
    """

    file: Path | str
    kind: str
    values: Any
    next_step: str
    lines: Mapping[Place, int] = field(default_factory=dict)

    def at(self, place: Place) -> Any:
        """Return the value at a place."""
        return functools.reduce(lambda value, step: value[step], place, self.values)

    def as_(self, schema: type[T], place: Place = ()) -> T:
        """Return the values, or those at a place, as a schema has them.

        Raises
        ------
        FsgreenError
            With all that is wrong, each with its line.
        """
        try:
            return TypeAdapter(schema).validate_python(self.at(place))
        except ValidationError as error:
            raise self.refusal(_faults(schema, error, place)) from None

    def check_given(self, schema: type, place: Place = ()) -> None:
        """Raise FsgreenError for what is given and wrong; what is missing may come later."""
        try:
            TypeAdapter(schema).validate_python(self.at(place))
        except ValidationError as error:
            faults = _faults(schema, error, place, given_only=True)
            if faults:
                raise self.refusal(faults) from None

    def line(self, place: Place) -> int:
        """Return the line of a value, or of what it should stand in."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def refusal(self, faults: Iterable[Fault]) -> FsgreenError:
        """Return the error that lists faults by line."""
        by_line = sorted({(self.line(fault.place), fault.what) for fault in faults})
        lines = [f"line {line}: {what}" if self.lines else what for line, what in by_line]
        return FsgreenError(
            f"not a {self.kind}: {lines[0]}"
            if len(lines) == 1
            else f"not a {self.kind}, for {len(lines)} reasons:\n    " + "\n    ".join(lines),
            where=f"{self.file}:{by_line[0][0]}" if self.lines else self.file,
            next_step=self.next_step,
        )


def read(file: Path, kind: str, next_step: str) -> Document:
    """Read a file in YAML or TOML, by its suffix.

    Parameters
    ----------
    file : Path
        What to read; it may be the partial file of `durable.whole`.
    kind : str
        What it should be, for errors: "study".
    next_step : str
        What to do about an error.

    Raises
    ------
    FsgreenError
        If there is no such file, or it is neither.
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


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, with the booleans of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
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
        raise FsgreenError(f"not TOML: {error}", where=file, next_step=next_step) from None
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


# --- errors -------------------------------------------------------------------------------------


def _faults(
    schema: Any, error: ValidationError, place: Place, *, given_only: bool = False
) -> list[Fault]:
    """Return the errors of pydantic in our words; `place` is where the values stand."""
    faults = []
    for entry in error.errors(include_url=False):
        if not given_only or (entry["loc"] and entry["type"] != "missing"):
            fault = _fault(schema, entry)
            faults.append(Fault((*place, *fault.place), fault.what))
    return faults


def _fault(schema: Any, entry: Mapping[str, Any]) -> Fault:
    place: Place = tuple(part for part in entry["loc"])
    key = str(place[-1]) if place else ""
    if entry["type"] == "extra_forbidden":
        known = _keys(schema, place[:-1])
        near = difflib.get_close_matches(key, known, n=1)
        hint = f", did you mean {near[0]}?" if near else "."
        return Fault(place, f"unknown key {key}{hint} Known: {', '.join(sorted(known))}.")
    if entry["type"] == "missing":
        owner = ".".join(map(str, place[:-1]))
        return Fault(place, f"the key {key} is missing" + (f" in {owner}" if owner else ""))
    message = entry["msg"].removeprefix("Value error, ").removeprefix("Input ")
    message = message[:1].lower() + message[1:]
    name = ".".join(str(part) for part in place)
    if entry["type"] == "value_error":
        return Fault(place, f"{name}: {message}" if name else message)
    return Fault(place, f"{name or 'the file'}: {message}, and not {entry['input']!r}")


def _keys(schema: Any, place: Place) -> list[str]:
    """Return the keys that a schema knows at a place."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        if not place:
            return [named.alias or name for name, named in schema.model_fields.items()]
        for name, named in schema.model_fields.items():
            if place[0] in (name, named.alias):
                return _keys(named.annotation, place[1:])
        return []
    of = [part for part in typing.get_args(schema) if part is not type(None)]
    origin = typing.get_origin(schema)
    if isinstance(origin, type) and issubclass(origin, Iterable) and of:
        return _keys(of[-1] if issubclass(origin, Mapping) else of[0], place[1:])
    return list(dict.fromkeys(key for part in of for key in _keys(part, place)))
