"""The process that measures on a testbed of a fleet: from rest to rest, as its worker lets it.

It measures as `fsgreen measure` does, and tells the worker whenever no trial runs. A line from the
worker, and it goes on. Where the worker is gone, the trial that runs is the last.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

from fsgreen import campaign
from fsgreen.campaign import testbedfile
from fsgreen.campaign.machine import machine_alone
from fsgreen.design import derive_seed, load_study
from fsgreen.errors import FsgreenError
from fsgreen.fleet.fleetfile import member
from fsgreen.fleet.messages import Order, Refusal, Rest

INTERRUPTED = 130
"""Exit status after a signal, as shells have it."""


class Worker:
    """The worker, as this process sees it: it is told of rests, and says when to go on."""

    def __init__(self) -> None:
        self._words = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # campaigns print, too
        self._rested_s = 0.0

    def tell(self, rest: Rest) -> None:
        """Tell how far it is."""
        told = rest.model_copy(update={"rested_s": self._rested_s})
        os.write(self._words, told.model_dump_json().encode() + b"\n")

    def rest(self) -> None:
        """Rest until the worker says a word; raises KeyboardInterrupt if it is gone."""
        self.tell(Rest(state="rest"))
        begin_s = time.monotonic()
        if not sys.stdin.readline():
            raise KeyboardInterrupt
        self._rested_s = time.monotonic() - begin_s


def main(testbed: str, choice: str, text: str) -> None:
    """Measure on a testbed, of a kind or a testbed file, what an order in JSON says."""
    worker, order = Worker(), Order.model_validate_json(text)
    try:
        with machine_alone():  # one whose worker was killed ends its trial first
            campaign.measure(
                order.study,
                order.profile,
                name=member(order.campaign, testbed),
                place=testbedfile.read(choice),
                seed=derive_seed(load_study(order.study).seed, testbed),
                at_rest=worker.rest,
            )
    except FsgreenError as error:
        worker.tell(Rest(state="refused", why=Refusal.of(error)))
    else:
        worker.tell(Rest(state="done"))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
