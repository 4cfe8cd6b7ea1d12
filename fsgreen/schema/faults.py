"""What is wrong in a file, in our words: where, what is taken there, and the nearest key."""

from __future__ import annotations

import difflib
import re
import reprlib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from fsgreen.errors import nearest

Place = tuple[str | int, ...]
"""Keys and positions from the top of a file down to a value."""

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


@dataclass(frozen=True)
class Fault:
    """Something wrong in a file, and where.

    `meant` is the key that an unknown one probably should be, "" where none is near; None where the
    key is known.
    """

    place: Place
    what: str
    meant: str | None = None


def faults_of(
    schema: Any, error: ValidationError, values: Any, *, given_only: bool = False
) -> list[Fault]:
    """Return the errors of pydantic in our words, one for each place.

    The values were held against `schema`. `given_only` leaves out what is missing.
    """
    faults: list[Fault] = []
    takes: dict[Place, tuple[list[str], Any]] = {}
    for entry in error.errors(include_url=False):
        if given_only and (not entry["loc"] or entry["type"] == "missing"):
            continue
        place = _place(entry, values)
        if entry["type"] in WORDS:
            words = WORDS[entry["type"]].format(**entry.get("ctx", {}))
            words = re.sub(r"''(?:, | or )|(?:,| or) ''", "", words).replace("'", "")
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
