"""The process that measures, as its worker sees it: it goes on, rests, and ends."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from pydantic import ValidationError

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.fleet.messages import Order, Refusal, Rest

CHILD = ("-P", "-m", "fsgreen.fleet.child")
"""What Python runs; a module in the current folder must not take the place of one of its own."""

MESSAGE_B = 1 << 20
"""More than what the process says at a rest."""


class Harness:
    """Measures on one testbed, one order at a time.

    `choice` is what `fsgreen measure` takes for a testbed: a kind, or a testbed file. `data` is the
    data folder of what is measured.
    """

    def __init__(self, testbed: str, choice: str, data: Path) -> None:
        self._testbed, self._choice = testbed, choice
        self._data = data
        self._order: Order | None = None
        self._process: Process | None = None
        self._asked = asyncio.Lock()

    async def go_on(self, order: Order) -> Rest:
        """Measure until the next rest, or to the end, and return what the process says then.

        Raises FsgreenError if somebody else is waiting for that.
        """
        if self._asked.locked():
            raise FsgreenError(
                "this testbed is measuring for somebody else",
                where=f"the testbed {self._testbed}",
                next_step="wait for it: fsgreen status",
            )
        async with self._asked:
            if self._process is not None and (self._is_let_go or not self._is_of(order)):
                await self._end()
            if self._process is None:
                self._process = await self._start(order)
            else:
                self._nudge(self._process, order)
            self._order = order
            return await self._heard(self._process)

    def let_go(self) -> None:
        """Have it end at its next rest; a trial that runs until then is kept."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def ended(self) -> None:
        """Return once a process that was let go has ended: until then its last trial may run."""
        if self._process is not None and self._is_let_go:
            await self._process.wait()

    async def stop(self) -> None:
        """End it now; a trial that runs is lost."""
        if self._process is not None:
            if self._process.returncode is None:
                self._process.terminate()
            await self._end()

    @property
    def _is_let_go(self) -> bool:
        assert self._process is not None and self._process.stdin is not None
        return self._process.stdin.is_closing() or self._process.returncode is not None

    async def _start(self, order: Order) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, *CHILD, self._testbed, self._choice, order.model_dump_json()),
            stdin=PIPE,
            stdout=PIPE,
            limit=MESSAGE_B,
            cwd=paths.root(),
            env={**os.environ, "FSGREEN_DATA": str(self._data)},
        )

    def _is_of(self, order: Order) -> bool:
        return self._order is not None and order.goes_on(self._order)

    def _nudge(self, process: Process, order: Order) -> None:
        assert process.stdin is not None
        process.stdin.write(order.model_dump_json().encode() + b"\n")

    async def _heard(self, process: Process) -> Rest:
        assert process.stdout is not None
        line = await process.stdout.readline()
        try:
            rest = Rest.model_validate_json(line)
        except ValidationError:
            rest = Rest(state="fell")
        if rest.state == "rest":
            return rest
        await self._end()
        if rest.state == "fell":
            what = f"the process that measures ended with status {process.returncode}"
            return Rest(state="fell", why=Refusal(what=what, where=f"the testbed {self._testbed}"))
        return rest

    async def _end(self) -> None:
        """Return once it has ended."""
        assert self._process is not None
        self.let_go()
        await self._process.wait()
        self._process = None
