"""A Redfish service in software, on this machine only: a chassis whose power is in three trees."""

from __future__ import annotations

import json
import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self

CHASSIS = "/redfish/v1/Chassis/1"
TREES = ("environment", "power", "supplies")

Misbehaviour = Literal["null", "garbage", "drop", "redirect", "slow"]


class Redfish:
    """A service with the given `trees`.

    While it is `locked` it answers only `user` with `password`, or `token`.

    `power_w` is asked for every reading. Trees that are `empty` are there without a value;
    `controls` are the power controls of the tree power, the first of the whole chassis; `others`
    are chassis without power. `certificate` and `key` make it speak TLS. What is asked is noted
    in `received`.
    """

    def __init__(
        self,
        power_w: Callable[[], float],
        *,
        trees: Collection[str] = TREES,
        empty: Collection[str] = (),
        controls: Sequence[str] = ("Server Power Control",),
        others: Sequence[str] = (),
        user: str = "operator",
        password: str = "secret",
        token: str = "token",
        locked: bool = True,
        certificate: Path | None = None,
        key: Path | None = None,
    ) -> None:
        self.received: list[str] = []
        self.connections = 0
        self.misbehaviour: Misbehaviour | None = None
        self.energy_kwh = 12.5
        self.serial = "EMULATED1"
        self._power_w = power_w
        self._trees = trees
        self._empty = empty
        self._controls = controls
        self._others = others
        self._open: set[socket.socket] = set()
        self._locked = locked
        basic = b64encode(f"{user}:{password}".encode()).decode()
        self._welcome = {("Authorization", f"Basic {basic}"), ("X-Auth-Token", token)}
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        scheme = "http"
        if certificate is not None:
            import ssl

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="emulated redfish", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The address of the service."""
        return {"url": self.url}

    def hang_up(self) -> None:
        """End the connections that are open, as a service does with those that rest."""
        for line in list(self._open):
            line.shutdown(socket.SHUT_RDWR)

    def documents(self) -> dict[str, Any]:
        """Return what the service holds now, by path."""
        chassis: dict[str, Any] = {"Id": "1", "Manufacturer": "Emulated", "Model": "Server"}
        chassis["SerialNumber"] = self.serial
        paths = [CHASSIS, *(f"/redfish/v1/Chassis/{other}" for other in self._others)]
        documents: dict[str, Any] = {
            "/redfish/v1/Chassis": {"Members": [_link(path) for path in paths]},
            CHASSIS: chassis,
        }
        if "environment" in self._trees:
            chassis["EnvironmentMetrics"] = _link(f"{CHASSIS}/EnvironmentMetrics")
            documents[f"{CHASSIS}/EnvironmentMetrics"] = {
                "PowerWatts": {"Reading": self._watts("environment")},
                "EnergykWh": {"Reading": self.energy_kwh},
            }
        if "power" in self._trees:
            chassis["Power"] = _link(f"{CHASSIS}/Power")
            powers = [self._watts("power"), *[1.0] * (len(self._controls) - 1)]
            documents[f"{CHASSIS}/Power"] = {
                "PowerControl": [
                    {"MemberId": str(nth), "Name": name, "PowerConsumedWatts": power_w}
                    for nth, (name, power_w) in enumerate(zip(self._controls, powers, strict=True))
                ]
            }
        if "supplies" in self._trees:
            chassis["PowerSubsystem"] = _link(f"{CHASSIS}/PowerSubsystem")
            supplies = f"{CHASSIS}/PowerSubsystem/PowerSupplies"
            documents[f"{CHASSIS}/PowerSubsystem"] = {"PowerSupplies": _link(supplies)}
            documents[supplies] = {"Members": [_link(f"{supplies}/{n}") for n in "01"]}
            power_w = self._watts("supplies")
            for n in "01":
                documents[f"{supplies}/{n}"] = {"Metrics": _link(f"{supplies}/{n}/Metrics")}
                half_w = None if power_w is None else power_w / 2
                documents[f"{supplies}/{n}/Metrics"] = {"InputPowerWatts": {"Reading": half_w}}
        return documents

    def _watts(self, tree: str) -> float | None:
        return None if tree in self._empty or self.misbehaviour == "null" else self._power_w()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one GET."""
        self.received.append(request.path)
        if self.misbehaviour == "drop":
            request.close_connection = True
            return
        if self.misbehaviour == "slow":
            self._released.wait(30.0)
        body = json.dumps(self.documents().get(request.path)).encode()
        status = 200 if body != b"null" else 404
        if self._locked and not self._welcome & set(request.headers.items()):
            status, body = 401, b"{}"
        if self.misbehaviour == "garbage":
            body = b"\xff\xfe<html>" + body[: len(body) // 2]
        request.send_response(302 if self.misbehaviour == "redirect" else status)
        if self.misbehaviour == "redirect":
            request.send_header("Location", "http://127.0.0.1:9/elsewhere")
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # of who no longer listens
            request.wfile.write(body)


def of_power(power_w: Callable[[], float], serial: str) -> Redfish:
    """Return a service that anyone on this machine may ask."""
    service = Redfish(power_w, locked=False)
    service.serial = serial
    return service


def _link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def _handler(service: Redfish) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            service.connections += 1
            service._open.add(self.connection)

        def finish(self) -> None:
            service._open.discard(self.connection)
            super().finish()

        def do_GET(self) -> None:
            service.answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
