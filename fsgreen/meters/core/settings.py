"""The settings of drivers: each declares its own in a class, which checks and explains them."""

from __future__ import annotations

import ast
import inspect
import json
import os
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import AfterValidator, Field, model_validator

from fsgreen.errors import FsgreenError
from fsgreen.schema import Document, Strict
from fsgreen.trace import Boundary, MeterInfo

Count = Annotated[int, Field(ge=1)]
Above0 = Annotated[float, Field(gt=0)]
From0 = Annotated[float, Field(ge=0)]
GainError = Annotated[float, Field(ge=0, lt=1)]
Texts = Annotated[tuple[str, ...], Field(strict=False)]

ABOUT = {
    "boundary": "The boundary of the power; by default as the driver's page says.",
    "covers": "The parts that draw the power.",
    "rate_hz": "Questions per second.",
    "interval_s": "Seconds between two questions.",
    "timeout_s": "The longest wait for an answer.",
    "range_w": "The most power in watts; a reading above it is marked over-range.",
    "resolution_w": "One step of the meter in watts.",
    "gain_error": "Error as a fraction of the value.",
    "constant_error_w": "Error of every value in watts.",
    "model": "The device that measured, for the record.",
    "serial": "The serial number of the device, for the record.",
    "numbers": "The style of numbers; by default as it is in the file.",
    "dates": "The order of day, month and year; by default as it is in the file.",
    "gmt_offset": "The clock's offset from UTC, such as -07:00; without it, times count from the "
    "first row.",
    "_env": "The environment variable that holds the secret.",
    "_file": "The file whose first line is the secret.",
}
"""Explanations of settings that several drivers have, by the end of their names. A driver's own
explanation has priority."""


def _without_slash(name: str) -> str:
    if "/" in name:
        raise ValueError("a name has no slash, as it is part of names of files")
    return name


class Settings(Strict):
    """The settings of a driver. The class of each driver is a subclass.

    A field has a type, a range if it needs one, a unit in its name, and a docstring for users. A
    text, a number and a boolean are never converted into one another.
    """

    name: str
    driver: str
    boundary: Boundary | None = None
    """The boundary of the power; by default as the driver's page says."""
    covers: Texts | None = ("system",)

    @model_validator(mode="before")
    @classmethod
    def _keeps_secrets_out(cls, table: Any) -> Any:
        for key in table if isinstance(table, Mapping) else ():
            if f"{key}_env" in cls.model_fields:
                raise ValueError(
                    f"the {key} stands in the testbed file, which is kept and shared: name an "
                    f"environment variable ({key}_env) or a file ({key}_file) that holds it"
                )
        return table

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """Return settings that are not from a file. Raises FsgreenError if they are wrong."""
        return document_of(table, cls.where(str(table.get("name", "?")))).as_(cls)

    @staticmethod
    def where(name: str) -> str:
        """Return the place that errors name."""
        return name

    def info(self, **known: Any) -> MeterInfo:
        """Return the description of a meter: its known properties, else those of the settings."""
        given = {field.name: getattr(self, field.name, None) for field in fields(MeterInfo)}
        told = {name: value for name, value in {**given, **known}.items() if value is not None}
        blank = {"model": "", "serial": "", "resolution_w": 0.0, "source": ""}
        return MeterInfo(**{**blank, "gain_error": 0.0, "constant_error_w": 0.0, **told})

    def refuse(self, what: str) -> NoReturn:
        """Raise FsgreenError for a wrong setting."""
        raise FsgreenError(
            what, where=self.where(self.name), next_step=f"fsgreen meters {self.driver}"
        )


Style = Literal["", "1,234.56", "1 234,56", "1.234,56", "1.234 56"]
Order = Literal["", "MDY", "DMY", "YMD"]


class FileSettings(Settings):
    """Properties of a meter that its file does not tell."""

    model: str = "?"
    serial: str = "?"
    range_w: Above0 | None = None
    gain_error: GainError
    constant_error_w: From0 = 0.0


class MeterSettings(Settings):
    """The settings of every table `[[meter]]`. Each live driver adds its own."""

    name: Annotated[str, Field(min_length=1), AfterValidator(_without_slash)]
    """The name of the meter in tables."""

    emulate: bool = False
    """Read an emulator, whose power is modelled: see docs/meters/model.md."""

    @staticmethod
    def where(name: str) -> str:
        """Return the place that errors name."""
        return f"meter {name}"


class Accuracy(Settings):
    """Limits of error, and their source. All except `volts` are required."""

    gain_error: GainError
    constant_error_w: From0
    source: Annotated[str, Field(min_length=1)]
    """The source of the two errors: a data sheet, or the way in which they were measured."""
    volts: Above0 | None = None
    """The nominal voltage of the rails, which turns a step of current into one of power."""


def secret(settings: Settings, kind: str) -> str:
    """Return a secret; empty if the meter has none.

    `kind` is, for example, password or token. The setting KIND_env names an environment variable;
    KIND_file names a file whose first line is the secret. Raises FsgreenError if both are set, or
    if the named variable or file does not have the secret.
    """
    variable, file = getattr(settings, f"{kind}_env"), getattr(settings, f"{kind}_file")
    if variable and file:
        settings.refuse(f"give {kind}_env or {kind}_file, not both")
    if variable and not os.environ.get(variable):
        settings.refuse(f"the environment variable {variable} is not set, or empty")
    return _first_line(file, settings.name) if file else os.environ.get(variable, "")


def _first_line(file: str, meter: str) -> str:
    try:
        line = Path(file).expanduser().read_text("utf-8").partition("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise FsgreenError(
            f"the file with the secret of meter {meter} cannot be read: {error}",
            where=file,
            next_step=f"ls -l {file}",
        ) from error
    if not line:
        raise FsgreenError(
            f"the file with the secret of meter {meter} is empty",
            where=file,
            next_step="write the secret into its first line",
        )
    return line


def document_of(table: Mapping[str, Any], where: str) -> Document:
    """Return a table that is not from a file as a document, for its errors."""
    driver = table.get("driver", "")
    return Document(
        where,
        f"table of {driver} settings" if driver else "meter",
        table,
        f"fsgreen meters {driver}".strip(),
    )


def lines_about(declared: type[Settings]) -> Iterator[str]:
    """Yield a line for each setting of a driver: its name, what it takes, and what it is."""
    schema = declared.model_json_schema()
    settings = {k: v for k, v in schema["properties"].items() if k not in ("name", "driver")}
    width = max(map(len, settings))
    own = _docstrings(declared)
    for name, about in settings.items():
        default = about.get("default")
        told = f", default {json.dumps(default)}" if default not in (None, "") else ""
        told = ", required" if name in schema["required"] else told
        common = (text for ending, text in ABOUT.items() if name.endswith(ending))
        meaning = about.get("description") or own.get(name) or next(common, "")
        yield f"{name:{width}}  {_takes(about)}{told}. {meaning}".rstrip()


def _docstrings(declared: type[Settings]) -> dict[str, str]:
    """Return the docstrings of settings; of one that a class declares anew, only that class's.

    Pydantic would read them out of the source whenever a driver is imported.
    """
    found: dict[str, str] = {}
    for each in reversed(declared.__mro__[: declared.__mro__.index(Settings) + 1]):
        (of_class,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        assert isinstance(of_class, ast.ClassDef)
        for one, following in pairwise([*of_class.body, ast.Pass()]):
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                found.pop(one.target.id, None)
                match following:
                    case ast.Expr(value=ast.Constant(value=str(said))):
                        found[one.target.id] = inspect.cleandoc(said)
    return found


def _takes(about: Mapping[str, Any]) -> str:
    """Return the type and the range of a setting in words, from its JSON schema."""
    about = {**next(iter(about.get("anyOf", [{}]))), **about}
    if "const" in about:
        return json.dumps(about["const"])
    if "enum" in about:
        return "one of " + ", ".join(json.dumps(value) for value in about["enum"])
    kinds = {"string": "a text", "boolean": "true or false", "array": "a list of texts"}
    kinds |= {"number": "a number", "integer": "a whole number"}
    words = {"exclusiveMinimum": "above", "minimum": "from", "exclusiveMaximum": "below"}
    words |= {"maximum": "up to"}
    ranges = (f"{word} {about[key]:g}" for key, word in words.items() if key in about)
    return " ".join([kinds[about["type"]], *ranges])
