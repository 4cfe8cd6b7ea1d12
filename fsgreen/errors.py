"""The one exception of the package: it says what went wrong, where, and what to type next."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

MANY = 40
"""Of more names than these an error lists the nearest alone."""


class FsgreenError(Exception):
    """Anything that a user can mend.

    `what` says in one sentence what went wrong, `where` is the file, device, option or trial
    concerned, and `next_step` the next command to type, or the next thing to do.
    """

    def __init__(
        self, what: str, *, where: object | None = None, next_step: str | None = None
    ) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.next_step = next_step
        lines = [what]
        if self.where is not None:
            lines.append(f"  where: {self.where}")
        if next_step is not None:
            lines.append(f"  next:  {next_step}")
        super().__init__("\n".join(lines))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: what, where and next, or what `%xmode` asks for."""
        shown = sys.modules["IPython"].get_ipython().InteractiveTB
        if shown.mode == "Context":  # as long as nobody has asked
            return [f"fsgreen: {self}", "  frames: %xmode Verbose, then %tb"]
        lines: list[str] = shown.structured_traceback(type(self), self, self.__traceback__)
        return lines


def unknown(
    kind: str,
    name: object,
    known: Iterable[str],
    *,
    where: object | None = None,
    next_step: str | None = None,
) -> FsgreenError:
    """Return the error for a name that is not one of the `known`, with the nearest suggested.

    Where many are known, `next_step` is what lists them.
    """
    choices = sorted(set(known))
    if len(choices) > MANY:
        few = difflib.get_close_matches(str(name), choices, n=5, cutoff=0.3)
        listed = f"Nearest of {len(choices)}: {', '.join(few)}." if few else ""
    else:
        listed = f"Known: {', '.join(choices) or 'none'}."
    what = f"unknown {kind} '{name}'{nearest(name, choices) or '.'} {listed}".rstrip()
    return FsgreenError(what, where=where, next_step=next_step)


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the question whether the nearest known name was meant; nothing if none is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f", did you mean {near[0]}?" if near else ""


class TrialFailed(FsgreenError):
    """What spoils one trial alone: it does not count, and runs again."""

    @property
    def reason(self) -> str:
        """Return why the trial does not count, with what to do about it."""
        return f"{self.what}; {self.next_step}" if self.next_step else self.what
