"""What schemas are made of: classes that refuse unknown keys, and numbers within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator
from pydantic_core import PydanticCustomError


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
