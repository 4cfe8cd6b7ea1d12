"""Events: actions on the device, the stack or the workload at given times of a trial.

A device, a stack or a workload offers events by name. A profile says when each happens. The record
has the time at which it did.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from fsgreen.design.study import PlannedEvent
from fsgreen.errors import FsgreenError, unknown
from fsgreen.trial import Event


@runtime_checkable
class OffersEvents(Protocol):
    """A device, a stack or a workload that offers events."""

    def events(self) -> Mapping[str, Callable[[], None]]:
        """Return the events as callables by name. A call may raise FsgreenError."""


def offered(sources: Iterable[object]) -> dict[str, Callable[[], None]]:
    """Return the events that devices, stacks and workloads offer, by name.

    Raises FsgreenError if two of them offer an event of the same name.
    """
    calls: dict[str, Callable[[], None]] = {}
    for source in sources:
        if isinstance(source, OffersEvents):
            for name, do in source.events().items():
                if name in calls:
                    raise FsgreenError(
                        f"the event {name} is offered twice",
                        where=type(source).__name__,
                        next_step="rename one of them where it is offered",
                    )
                calls[name] = do
    return calls


def check_offered(planned: Sequence[PlannedEvent], known: Iterable[str], where: str) -> None:
    """Raise FsgreenError if a study names an event that nothing offers.

    `where` is the place that the error names.
    """
    names = list(known)
    for event in planned:
        if event.do not in names:
            raise unknown(
                "event",
                event.do,
                names,
                where=where,
                next_step="name one that the device, the stack or the workload offers",
            )


@contextmanager
def during(
    planned: Sequence[PlannedEvent],
    begins_s: Mapping[str, float],
    known: Mapping[str, Callable[[], None]],
) -> Iterator[list[Event]]:
    """Run events at their times, in a thread beside the `with` block.

    The list that the block gets holds the events when the block has ended. An event that failed, or
    that came too late, has a `fault`.

    `planned` are all events of the trial; those of other phases are ignored. `begins_s` has the
    start of each phase of the block in host monotonic seconds, and `known` the events that are
    offered.
    """
    here = [event for event in planned if event.phase in begins_s]
    due = [(begins_s[event.phase] + event.at_s, event) for event in here]
    due.sort(key=lambda entry: entry[0])
    happened: list[Event] = []
    over = threading.Event()

    def attend() -> None:
        for due_s, event in due:
            fault = None
            if over.wait(max(0.0, due_s - time.monotonic())):
                fault = "the phase ended before"
            start_s = time.monotonic()
            if fault is None:
                fault = _done(known[event.do])
            end_s = time.monotonic()
            happened.append(Event(event.do, event.phase, event.at_s, start_s, end_s, fault))

    thread = threading.Thread(target=attend, name="events", daemon=True)
    if due:
        thread.start()
    try:
        yield happened
    finally:
        over.set()
        if due:
            thread.join()


def _done(do: Callable[[], None]) -> str | None:
    """Run an event; return why it failed, or None."""
    try:
        do()
    except Exception as error:
        return error.what if isinstance(error, FsgreenError) else repr(error)
    return None
