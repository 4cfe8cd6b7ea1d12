"""The process that measures on a testbed of a fleet: from rest to rest, as its worker lets it.

It measures as `fsgreen measure` does, and tells the worker whenever no trial runs. The order once
more, perhaps with other blocks, and it goes on. Where the worker is gone, the trial that runs is
the last.
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
from fsgreen.commands import INTERRUPTED
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError
from fsgreen.fleet.messages import Order, Refusal, Rest
from fsgreen.fleet.orders import study_of


class Worker:
    """The worker, as this process sees it: it is told of rests, and says when to go on.

    `blocks` are those that it wants measured now; None where that is the whole plan.
    """

    def __init__(self, order: Order) -> None:
        self._words = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # campaigns print, too
        self._rested_s = 0.0
        self.blocks = {*order.blocks} if order.design == "share" else None

    def tell(self, rest: Rest) -> None:
        """Tell how far it is."""
        told = rest.model_copy(update={"rested_s": self._rested_s})
        os.write(self._words, told.model_dump_json().encode() + b"\n")

    def rest(self) -> None:
        """Rest until the worker gives the order again; raises KeyboardInterrupt if it is gone."""
        self.tell(Rest(state="rest"))
        begin_s = time.monotonic()
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        self._rested_s = time.monotonic() - begin_s
        if self.blocks is not None:
            self.blocks.clear()
            self.blocks.update(Order.model_validate_json(line).blocks)


def main(testbed: str, choice: str, text: str) -> None:
    """Measure on a testbed, of a kind or a testbed file, what an order in JSON says."""
    order = Order.model_validate_json(text)
    worker = Worker(order)
    try:
        with machine_alone():  # one whose worker was killed ends its trial first
            campaign.measure(
                study_of(order, testbed),
                order.profile,
                name=member(order.campaign, testbed),
                place=testbedfile.read(choice),
                blocks=worker.blocks,
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
