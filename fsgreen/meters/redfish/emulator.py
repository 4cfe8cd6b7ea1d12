"""An emulated Redfish service on this machine, with one chassis that gives its power."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fsgreen.meters.common.emulators import WebEmulator

CHASSIS = "/redfish/v1/Chassis/1"


class Redfish(WebEmulator):
    """A service that anyone on this machine may ask; it calls `power_w` for every reading."""

    def __init__(self, power_w: Callable[[], float], serial: str = "EMULATED1") -> None:
        super().__init__()
        self.power_w = power_w
        self.serial = serial
        self.url = f"http://{self.host}"

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The address of the service."""
        return {"url": self.url}

    def document(self, path: str) -> Any:
        """Return the document at a path; None if there is none."""
        return self.documents().get(path)

    def documents(self) -> dict[str, Any]:
        """Return the service's present documents by path."""
        about = {"Id": "1", "Manufacturer": "Emulated", "Model": "Server"}
        metrics = f"{CHASSIS}/EnvironmentMetrics"
        return {
            "/redfish/v1/Chassis": {"Members": [link(CHASSIS)]},
            CHASSIS: {**about, "SerialNumber": self.serial, "EnvironmentMetrics": link(metrics)},
            metrics: {"PowerWatts": {"Reading": self.power_w()}},
        }


def link(path: str) -> dict[str, str]:
    """Return a reference to a document."""
    return {"@odata.id": path}
