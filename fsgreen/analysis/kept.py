"""What is asked many times is computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Self = TypeVar("Self")
Given = ParamSpec("Given")
Value = TypeVar("Value")


def kept(
    method: Callable[Concatenate[Self, Given], Value],
) -> Callable[Concatenate[Self, Given], Value]:
    """Have an object, which never changes, keep what a method of it returned for its arguments.

    Unlike `functools.cache`, this needs no hash of the object, and ends with it.
    """
    name = f"_kept_{method.__qualname__}"

    @wraps(method)
    def asked(self: Self, *args: Given.args, **more: Given.kwargs) -> Value:
        known: dict[object, Value] = vars(self).setdefault(name, {})
        key = args, frozenset(more.items())
        if key not in known:
            known[key] = method(self, *args, **more)
        return known[key]

    return asked
