"""An emulated SNMP agent: a power distribution unit on 127.0.0.1 with any objects."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from fsgreen.meters.snmp.session import AUTH, PRIV, Access, LoopThread, shut

Objects = dict[str, tuple[str, Callable[[], object]]]
"""The type and value of each object, by OID.

A type is Integer32, Gauge32, Unsigned32, Counter64, TimeTicks or OctetString.
"""


MAINS_V = 230.0
SENTRY = "1.3.6.1.4.1.1718.4.1"
PRESET = "servertech-outlet"
OUTLET = "1.1.1"


def sentry_outlet(
    power_w: Callable[[], float], index: str = OUTLET, serial: str = "EMULATED"
) -> Objects:
    """Return the objects of one outlet, for the preset `PRESET`.

    `power_w` is called when power or energy is asked for; energy counts it for the time since the
    previous question.
    """
    begin_s = last_s = time.monotonic()
    energy_wh = 0.0

    def watt_hours() -> int:
        nonlocal last_s, energy_wh
        now_s = time.monotonic()
        energy_wh += power_w() * (now_s - last_s) / 3600
        last_s = now_s
        return int(energy_wh)

    outlet = f"{SENTRY}.8.3.1"
    return {
        "1.3.6.1.2.1.1.1.0": ("OctetString", lambda: "emulated PDU"),
        "1.3.6.1.2.1.1.3.0": ("TimeTicks", lambda: int(100 * (time.monotonic() - begin_s))),
        "1.3.6.1.2.1.1.5.0": ("OctetString", lambda: "pdu"),
        f"{SENTRY}.2.2.1.4.1": ("OctetString", lambda: serial),
        f"{outlet}.3.{index}": ("Integer32", lambda: round(100 * power_w() / MAINS_V)),
        f"{outlet}.6.{index}": ("Integer32", lambda: round(10 * MAINS_V)),
        f"{outlet}.7.{index}": ("Integer32", lambda: round(power_w())),
        f"{outlet}.14.{index}": ("Integer32", watt_hours),
    }


class Agent:
    """An agent that runs in the `with` block, and listens at `port`."""

    def __init__(self, objects: Objects, access: Access | None = None) -> None:
        self.objects = objects
        self._access = access or Access()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._engine: Any = None

    def __enter__(self) -> Self:
        self._thread = LoopThread("emulated SNMP agent")
        self._thread.run(self._serve())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.run(shut(self._engine))
        self._thread.close()
        self._socket.close()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The agent's address, and the first outlet of its preset."""
        return {"host": "127.0.0.1", "port": self.port, "preset": PRESET, "index": OUTLET}

    async def _serve(self) -> None:
        from pysnmp.carrier.asyncio.dgram import udp
        from pysnmp.entity import config, engine
        from pysnmp.entity.rfc3413 import cmdrsp, context

        self._engine = engine.SnmpEngine()
        config.add_transport(
            self._engine, udp.DOMAIN_NAME, udp.UdpTransport().open_server_mode(sock=self._socket)
        )
        config.add_v1_system(self._engine, "emulated", self._access.community)
        if self._access.user:
            config.add_v3_user(
                self._engine,
                self._access.user,
                getattr(config, AUTH[self._access.auth]),
                self._access.auth_key,
                getattr(config, PRIV[self._access.priv]),
                self._access.priv_key,
            )
        units = context.SnmpContext(self._engine)
        units.unregister_context_name("")
        units.register_context_name("", self)
        cmdrsp.GetCommandResponder(self._engine, units)

    def read_variables(self, *asked: Any, **_: object) -> list[tuple[Any, Any]]:
        """Answer one question; pysnmp calls this."""
        return [(name, self.value(str(name))) for name, _value in asked]

    def value(self, oid: str) -> Any:
        """Return the value of an object, in pysnmp's type."""
        from pysnmp.proto import rfc1902, rfc1905

        if oid not in self.objects:
            return rfc1905.noSuchInstance
        kind, value = self.objects[oid]
        return getattr(rfc1902, kind)(value())


def of_power(power_w: Callable[[], float], serial: str) -> Agent:
    """Return a unit with one outlet."""
    return Agent(sentry_outlet(power_w, serial=serial))
