"""Registries of named declarations: those that come with fsgreen, and those that studies add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from fsgreen.errors import FsgreenError, unknown


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """Return the name."""


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Entries of one kind by name, in the order of their declaration."""

    def __init__(self, kind: str, built_in: Iterable[T]) -> None:
        self._kind = kind
        self._declared = {entry.name: entry for entry in built_in}

    def __iter__(self) -> Iterator[T]:
        return iter(self._declared.values())

    def declare(self, own: Iterable[T]) -> None:
        """Add entries after those that are known. Equal entries are ignored.

        Raises FsgreenError if another entry has the same name.
        """
        for entry in own:
            before = self._declared.setdefault(entry.name, entry)
            if before != entry:
                raise FsgreenError(
                    f"the {self._kind} {entry.name} is declared twice, in different ways",
                    where=f"{before} and {entry}",
                    next_step="give one of them another name",
                )

    def get(self, name: str) -> T:
        """Return the entry with this name. Raises FsgreenError if there is none."""
        try:
            return self._declared[name]
        except KeyError:
            raise unknown(self._kind, name, self._declared) from None

    def names(self) -> list[str]:
        """Return all names."""
        return list(self._declared)
