"""The values of a file, held against a schema, and the line that each begins on."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from fsgreen.errors import FsgreenError
from fsgreen.schema.faults import Fault, Place, faults_of

T = TypeVar("T")


@dataclass(frozen=True)
class Document:
    """The values of a file, and the line that each begins on.

    `file` is where the values were read from; where there is no file, whose values they are. `kind`
    is what it should be, for errors: "study". `next_step` is what to do about an error.
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

        Raises FsgreenError with all that is wrong, each with its line.
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
