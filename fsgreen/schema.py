"""Files that people write, read through a schema: an error names file, line and the nearest key.

A schema is a class below `Declared`. YAML is read as its version 1.2 has it: `on`, `off`, `yes` and
`no` are words.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
import reprlib
import tomllib
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, PlainValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from fsgreen.errors import FsgreenError, nearest

Place = tuple[str | int, ...]
"""Keys and positions from the top of a file down to a value."""

T = TypeVar("T")


def taking(what: str, sound: Callable[[Any], bool]) -> PlainValidator:
    """Return the validator of a value, which stays what it is; `what` says what is taken."""

    def checked(value: Any) -> Any:
        if not sound(value):
            raise PydanticCustomError("taking", "{what}", {"what": what})
        return value

    return PlainValidator(checked)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


Whole = Annotated[int, taking("a whole number", lambda x: type(x) is int)]
Count = Annotated[int, taking("a whole number from 1 on", lambda x: type(x) is int and x >= 1)]
Positive = Annotated[float, taking("a number above 0", lambda x: _number(x) and 0 < x < math.inf)]
NotNegative = Annotated[
    float, taking("a number from 0 on", lambda x: _number(x) and 0 <= x < math.inf)
]


class Declared(BaseModel):
    """What a file, or a part of one, may say; other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Strict(Declared):
    """The same, where texts, finite numbers and truths are not taken for one another."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Fault:
    """Something wrong in a file, and where.

    `meant` is the key that an unknown one probably should be, "" where none is near; None where the
    key is known.
    """

    place: Place
    what: str
    meant: str | None = None


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
        parsed, faults = self.parsed(schema, place)
        if parsed is None:
            raise self.refusal(faults)
        return parsed

    def parsed(self, schema: type[T], place: Place = ()) -> tuple[T | None, list[Fault]]:
        """Return the values, or those at a place, as a schema has them; else what is wrong."""
        try:
            return TypeAdapter(schema).validate_python(self.at(place)), []
        except ValidationError as error:
            return None, self._faults(schema, error, place)

    def check_given(self, schema: type, place: Place = ()) -> None:
        """Raise FsgreenError for what is given and wrong; what is missing may come later."""
        try:
            TypeAdapter(schema).validate_python(self.at(place))
        except ValidationError as error:
            if faults := self._faults(schema, error, place, given_only=True):
                raise self.refusal(faults) from None

    def _faults(
        self, schema: Any, error: ValidationError, place: Place, *, given_only: bool = False
    ) -> list[Fault]:
        faults = faults_of(schema, error, self.at(place), given_only=given_only)
        return [replace(fault, place=(*place, *fault.place)) for fault in faults]

    def line(self, place: Place) -> int:
        """Return the line of a value, or of what it should stand in."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def where(self, place: Place) -> Path | str:
        """Return the file, with the line of a value if it was read from one."""
        return f"{self.file}:{self.line(place)}" if self.lines else self.file

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


# --- errors -------------------------------------------------------------------------------------

WORDS: Mapping[str, str] = {
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "keys with values"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "a whole number"
    ),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "a text"),
    "finite_number": "a finite number",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number from {ge:g} on",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number up to {le:g}",
    "literal_error": "{expected}",
    "taking": "{what}",
    "string_too_short": "a text that is not empty",
    "too_short": "{min_length} or more entries",
}
"""What a value takes, by the type of pydantic's error (docs.pydantic.dev, Validation Errors)."""


def faults_of(
    schema: Any, error: ValidationError, values: Any, *, given_only: bool = False
) -> list[Fault]:
    """Return the errors of pydantic in our words, one for each place.

    Parameters
    ----------
    schema : type
        What the values were held against.
    error : ValidationError
        What came of it.
    values : Any
        The values.
    given_only : bool
        Leave out what is missing.
    """
    faults: list[Fault] = []
    takes: dict[Place, tuple[list[str], Any]] = {}
    for entry in error.errors(include_url=False):
        if given_only and (not entry["loc"] or entry["type"] == "missing"):
            continue
        place = _place(entry, values)
        if entry["type"] in WORDS:
            words = WORDS[entry["type"]].format(**entry.get("ctx", {})).replace("'", "")
            words += " as its name" if entry["loc"][-1:] == ("[key]",) else ""
            takes.setdefault(place, ([], entry["input"]))[0].append(words)
        else:
            faults.append(_fault(schema, entry, place))
    # Of several things that a value may be, the one that it is in part was meant.
    places = [*takes, *(fault.place for fault in faults)]
    in_part = {place[:end] for place in places for end in range(len(place))}
    return faults + [_taken(at, *told) for at, told in takes.items() if at not in in_part]


def _place(entry: Mapping[str, Any], values: Any) -> Place:
    """Return keys and positions down to an error, without the alternatives that were tried."""
    place: Place = ()
    for step in entry["loc"]:
        try:
            values = values[step]
        except (LookupError, TypeError):
            if entry["type"] != "missing" or step != entry["loc"][-1]:
                continue
        place = (*place, step)
    return place


def _fault(schema: Any, entry: Mapping[str, Any], place: Place) -> Fault:
    key = str(place[-1]) if place else ""
    if entry["type"] == "extra_forbidden":
        known = sorted(_keys(schema, place[:-1]))
        hint = nearest(key, known) or "."
        meant = next(iter(difflib.get_close_matches(key, known, n=1)), "")
        return Fault(place, f"unknown key {key}{hint} Known: {', '.join(known)}.", meant)
    owner = ".".join(map(str, place[:-1]))
    if entry["type"] == "missing":
        return Fault(place, f"the key {key} is missing" + (f" in {owner}" if owner else ""))
    message = str(entry.get("ctx", {}).get("error", entry["msg"]))
    name = ".".join(map(str, place))
    return Fault(place, f"{name}: {message}" if name else message)


def _taken(place: Place, words: Iterable[str], value: Any) -> Fault:
    """Return what a value takes, in the words of all that it may be."""
    what = " or ".join(dict.fromkeys(words))
    told = "nothing" if value is None else reprlib.repr(value)
    told = told.lower() if isinstance(value, bool) else told
    hint = nearest(value, re.split(", | or ", what)) if isinstance(value, str) else ""
    name = ".".join(map(str, place)) or "the file"
    return Fault(place, f"{name}: takes {what}, not {told}{hint}")


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
