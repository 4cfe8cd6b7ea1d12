"""Who belongs to a fleet, as Dask knows it: a scheduler at home, and workers that offer a testbed.

Dask sends functions as pickles, which are programs. Here nothing is unpickled, and what a scheduler
or a worker of Dask would do for others is taken from it, but for what keeps them in touch: a worker
has one handler more, `fsgreen`, which does our own tasks by name. Neither has a page on the web.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import dask
from distributed import Scheduler, Worker
from distributed.protocol import pickle
from distributed.utils import get_ip

from fsgreen.errors import FsgreenError
from fsgreen.fleet.certificates import security
from fsgreen.fleet.fleetfile import Fleet

HEARTBEAT_S = 5.0
"""How often a worker shows that it is alive; Dask's half second is more work beside a trial."""

CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.tick.limit": "1h",
}
"""Of Dask's settings: what would watch it many times a second, beside a trial."""

Perform = Callable[..., Awaitable[dict[str, Any]]]


def begin() -> None:
    """Have Dask be calm, silent but for errors, and unpickle nothing, in this whole process."""
    dask.config.set(CALM)
    logging.getLogger("distributed").setLevel(logging.ERROR)
    pickle.loads = _unpickle_nothing


def _unpickle_nothing(*_given: Any, **_named: Any) -> NoReturn:
    raise FsgreenError(
        "a fleet takes no pickles: they are programs",
        next_step="ask a worker for its tasks by name, as fsgreen measure --fleet does",
    )


class Registry(Scheduler):
    """The scheduler at home, with which workers register."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(
            host=fleet.host,
            port=fleet.port,
            security=security(fleet),
            dashboard=False,
            extensions={},
        )
        self.handlers = _only(
            self.handlers, "identity", "register-worker", "heartbeat_worker", "unregister"
        )
        self.handlers["heartbeat_worker"] = self._heartbeat
        self.stream_handlers = _only(
            self.stream_handlers, "keep-alive", "log-event", "worker-status-change"
        )

    def start_http_server(self, *_given: Any, **_named: Any) -> None:
        """Show nothing on the web."""

    def _heartbeat(self, **told: Any) -> dict[str, Any]:
        return {**self.heartbeat_worker(**told), "heartbeat-interval": HEARTBEAT_S}

    def address_of(self, testbed: str) -> str | None:
        """Return where the worker of a testbed listens; None as long as there is none."""
        address = self.aliases.get(testbed)
        return None if address is None else str(address)


class Offer(Worker):
    """A worker that offers its testbed as a resource, `testbed`, of which there is one."""

    def __init__(self, fleet: Fleet, testbed: str, perform: Perform) -> None:
        super().__init__(
            address(fleet),
            name=testbed,
            nthreads=1,
            resources={"testbed": 1},
            host=fleet.host if fleet.is_local else get_ip(fleet.host, fleet.port),
            security=security(fleet),
            memory_limit=0,
            extensions={},
        )
        self.handlers = {**_only(self.handlers, "identity"), "fsgreen": perform}
        self.stream_handlers = _only(self.stream_handlers, "close", "remove-worker")

    def start_http_server(self, *_given: Any, **_named: Any) -> None:
        """Show nothing on the web."""

    async def plugin_add(self, *_given: Any, **_named: Any) -> Any:
        """Take no plugin: it is a program."""
        return {"status": "OK"}


def address(fleet: Fleet) -> str:
    """Return the address of home, as Dask writes it."""
    return f"{'tcp' if fleet.certificates is None else 'tls'}://{fleet.home}"


def _only(handlers: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: handlers[name] for name in names}
