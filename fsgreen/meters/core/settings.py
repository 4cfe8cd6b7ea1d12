"""The settings of one meter, as a testbed file has them: each is taken once, and none is left."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, get_args

from fsgreen.errors import FsgreenError, unknown
from fsgreen.trace import Boundary

REQUIRED: Any = object()

SECRETS = ("password", "token")
"""Settings that no message repeats."""


class Settings:
    """A table `[[meter]]`; its `name` and `driver` are taken already.

    Each method takes a setting, or returns its default, and raises FsgreenError where a required
    one is missing or one has another type. `finish` refuses what nobody took.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._left = dict(table)
        self._asked = {"emulate"}
        self.name = str(table.get("name", "?"))
        self.name = self.text("name")
        self.driver = self.text("driver")

    def text(self, key: str, default: str = REQUIRED) -> str:
        """Take a text."""
        return str(self._take(key, default, str, "a text"))

    def number(self, key: str, default: float = REQUIRED) -> float:
        """Take a finite number."""
        value = float(self._take(key, default, (int, float), "a number"))
        if not abs(value) < float("inf"):
            self.refuse(f"{key} is {value}, not a number")
        return value

    def whole(self, key: str, default: int = REQUIRED) -> int:
        """Take a whole number."""
        return int(self._take(key, default, int, "a whole number"))

    def switch(self, key: str, default: bool = REQUIRED) -> bool:
        """Take true or false."""
        return bool(self._take(key, default, bool, "true or false"))

    def texts(self, key: str, default: Sequence[str] = REQUIRED) -> tuple[str, ...]:
        """Take a list of texts."""
        values = self._take(key, default, (list, tuple), "a list of texts")
        if not all(isinstance(value, str) for value in values):
            self.refuse(f"{key} is {values!r}, not a list of texts")
        return tuple(values)

    def choice(self, key: str, choices: Sequence[str], default: str = REQUIRED) -> str:
        """Take one of several texts."""
        value = self.text(key, default)
        if value not in choices:
            raise unknown(key, value, choices, where=f"meter {self.name}")
        return value

    def boundary(self, default: Boundary) -> Boundary:
        """Take what the power includes."""
        value: Any = self.choice("boundary", get_args(Boundary), default)
        return value

    def completed(self, values: Mapping[str, Any]) -> Settings:
        """Return these settings without those that are taken, and with `values`.

        Raises FsgreenError where one of `values` is given already.
        """
        if twice := sorted(self._left.keys() & values.keys()):
            self.refuse(f"{', '.join(twice)} may not be given to an emulated meter")
        return Settings({**self._left, **values, "name": self.name, "driver": self.driver})

    def finish(self) -> None:
        """Refuse what is left, and suggest what the driver knows."""
        if not self._left:
            return
        unknown_keys = []
        for key in sorted(self._left):
            near = difflib.get_close_matches(key, self._asked, n=1)
            unknown_keys.append(f"{key} (did you mean {near[0]}?)" if near else key)
        known = ", ".join(sorted(self._asked))
        self.refuse(f"unknown settings {', '.join(unknown_keys)}. Known: {known}")

    def refuse(self, what: str) -> NoReturn:
        """Raise that a setting is wrong."""
        raise FsgreenError(
            what,
            where=f"meter {self.name}",
            next_step="see docs/meters.md for the settings of a meter",
        )

    def _take(self, key: str, default: Any, types: Any, what: str) -> Any:
        self._asked.add(key)
        value = self._left.pop(key, default)
        if value is REQUIRED:
            self.refuse(f"a meter lacks its {key}")
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            seen = "something else" if key in SECRETS else repr(value)
            self.refuse(f"{key} is {seen}, not {what}")
        return value
