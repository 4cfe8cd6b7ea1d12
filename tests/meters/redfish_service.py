"""An emulated Redfish service with three trees of power, a lock, TLS, and misbehaviours."""

import json
import ssl
from base64 import b64encode

from fsgreen.meters.common.emulators import send
from fsgreen.meters.redfish.emulator import CHASSIS, link
from fsgreen.meters.redfish.emulator import Redfish as SoundRedfish

TREES = ("environment", "power", "supplies")


class Redfish(SoundRedfish):
    """A service with the given `trees`, for "operator" with `password`, or the token "token".

    Trees that are `empty` are there without a value; `controls` are the power controls of the
    tree power, the first of the whole chassis; `others` are chassis without power. `certificate`
    and `key` make it speak TLS. `misbehaviour`: null, garbage, drop, redirect, slow or None.
    """

    def __init__(
        self,
        power_w,
        *,
        trees=TREES,
        empty=(),
        controls=("Server Power Control",),
        others=(),
        password="secret",
        certificate=None,
        key=None,
    ):
        super().__init__(power_w)
        self.received = []
        self.misbehaviour = None
        self.energy_kwh = 12.5
        self._trees, self._empty, self._controls, self._others = trees, empty, controls, others
        basic = b64encode(f"operator:{password}".encode()).decode()
        self._welcome = {("Authorization", f"Basic {basic}"), ("X-Auth-Token", "token")}
        self._callers = set()
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.url = f"https://{self.host}"

    @property
    def connections(self):
        return len(self._callers)

    def documents(self):
        chassis = {"Id": "1", "Manufacturer": "Emulated", "Model": "Server"}
        chassis["SerialNumber"] = self.serial
        paths = [CHASSIS, *(f"/redfish/v1/Chassis/{other}" for other in self._others)]
        documents = {
            "/redfish/v1/Chassis": {"Members": [link(path) for path in paths]},
            CHASSIS: chassis,
        }
        if "environment" in self._trees:
            chassis["EnvironmentMetrics"] = link(f"{CHASSIS}/EnvironmentMetrics")
            documents[f"{CHASSIS}/EnvironmentMetrics"] = {
                "PowerWatts": {"Reading": self._watts("environment")},
                "EnergykWh": {"Reading": self.energy_kwh},
            }
        if "power" in self._trees:
            chassis["Power"] = link(f"{CHASSIS}/Power")
            powers = [self._watts("power"), *[1.0] * (len(self._controls) - 1)]
            documents[f"{CHASSIS}/Power"] = {
                "PowerControl": [
                    {"MemberId": str(nth), "Name": name, "PowerConsumedWatts": power_w}
                    for nth, (name, power_w) in enumerate(zip(self._controls, powers, strict=True))
                ]
            }
        if "supplies" in self._trees:
            chassis["PowerSubsystem"] = link(f"{CHASSIS}/PowerSubsystem")
            supplies = f"{CHASSIS}/PowerSubsystem/PowerSupplies"
            documents[f"{CHASSIS}/PowerSubsystem"] = {"PowerSupplies": link(supplies)}
            documents[supplies] = {"Members": [link(f"{supplies}/{n}") for n in "01"]}
            power_w = self._watts("supplies")
            for n in "01":
                documents[f"{supplies}/{n}"] = {"Metrics": link(f"{supplies}/{n}/Metrics")}
                half_w = None if power_w is None else power_w / 2
                documents[f"{supplies}/{n}/Metrics"] = {"InputPowerWatts": {"Reading": half_w}}
        return documents

    def _watts(self, tree):
        return None if tree in self._empty or self.misbehaviour == "null" else self.power_w()

    def answer(self, request):
        self.received.append(request.path)
        self._callers.add(request.client_address)
        if self.misbehaviour == "drop":
            request.close_connection = True
            return
        if self.misbehaviour == "slow":
            self.closing.wait(30.0)
        body = json.dumps(self.document(request.path)).encode()
        status = 200 if body != b"null" else 404
        if not self._welcome & set(request.headers.items()):
            status, body = 401, b"{}"
        if self.misbehaviour == "garbage":
            body = b"\xff\xfe<html>" + body[: len(body) // 2]
        if self.misbehaviour == "redirect":
            send(request, 302, body, Location="http://127.0.0.1:9/elsewhere")
        else:
            send(request, status, body)
