"""A server's management controller (BMC) over IPMI DCMI, through `ipmitool` or `ipmi-dcmi`.

Command and fields: DCMI 1.5, 6.6.1 Get Power Reading, as ipmitool 1.8 and FreeIPMI 1.6 print it.
The program is started for each reading, with a time limit.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from fsgreen.errors import FsgreenError
from fsgreen.meters.common import asking
from fsgreen.meters.common.answers import quality
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Above0, GainError, MeterSettings, secret
from fsgreen.trace import MeterInfo

READING = {
    "ipmitool": ("dcmi", "power", "reading"),
    "ipmi-dcmi": ("--get-system-power-statistics",),
}
"""The arguments for a power reading, by program."""

HERE = "apt install ipmitool; sudo modprobe -a ipmi_si ipmi_devintf; measure as root"
THERE = "check host, user and password; let the controller allow IPMI over LAN"
DEVICES = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")

POWER = re.compile(
    rb"(?:instantaneous power reading|current power)\s*:\s*([0-9]{1,5}) watts\b", re.I
)
OTHERS = re.compile(
    rb"(?:sampling period|sample period|sampling duration)\s*:\s*([0-9]{1,5}) watts\b", re.I
)
STATE = re.compile(rb"(?:power reading state is|power measurement)\s*:\s*([a-z]+)", re.I)
ACTIVE = (b"activated", b"active")


class IpmiSettings(MeterSettings):
    """The settings of this machine's controller, or of that of another machine."""

    program: Literal["ipmitool", "ipmi-dcmi"] = "ipmitool"
    """The program that asks the controller."""
    host: str = ""
    """The address of another machine's controller; by default, this machine's is asked."""
    user: str = ""
    """The user of the controller at `host`."""
    password_env: str = ""
    password_file: str = ""
    rate_hz: Annotated[Above0, Field(le=5)] = 1.0
    """Questions per second, best at the controller's own rate."""
    timeout_s: Above0 = 5.0
    """The longest wait for an answer."""
    range_w: Above0 = 10_000.0
    gain_error: GainError = 0.05
    """The error of the power supplies, from the server's data sheet."""


class IpmiParser:
    """Watts from the output of either program.

    Flags: cut, missing (the controller says that it measures no power), over-range, and the
    remark stale (all numbers are those of the previous answer).
    """

    def __init__(self, info: MeterInfo) -> None:
        self._range_w = info.range_w
        self._last: tuple[bytes, ...] = ()

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of one answer."""
        powers, states = POWER.findall(chunk.data), STATE.findall(chunk.data)
        if len(powers) != 1 or len(states) != 1:
            return [Reading(chunk.time_s, NAN, quality="cut")]
        if states[0].lower() not in ACTIVE:
            return [Reading(chunk.time_s, NAN, quality="missing")]
        power_w = float(powers[0])
        flags = ["over-range"] if power_w > self._range_w else []
        numbers = (*powers, *OTHERS.findall(chunk.data))
        flags += ["stale"] if numbers == self._last else []
        self._last = numbers
        return [Reading(chunk.time_s, power_w, quality=quality(flags))]


class Ipmi(Asked):
    """The management controller that the settings name."""

    settings: IpmiSettings
    parser = IpmiParser

    def __init__(self, settings: IpmiSettings, _: DeviceOf) -> None:
        program, host, user = settings.program, settings.host, settings.user
        password = secret(settings, "password")
        if len({bool(host), bool(user), bool(password)}) > 1:
            settings.refuse(
                "a controller on the network needs host, user and password_env or _file"
            )
        if host and program != "ipmitool":
            settings.refuse(
                f"{program} reads its host from /etc/freeipmi/freeipmi.conf: leave host out"
            )
        self._login = ("-I", "lanplus", "-H", host, "-U", user, "-E") if host else ()
        self._secrets = dict.fromkeys(("IPMITOOL_PASSWORD", "IPMI_PASSWORD"), password)
        super().__init__(settings)

    def identify(self) -> MeterInfo:
        """Ask the controller for its identity; raises FsgreenError if it does not answer."""
        model, serial = f"BMC by {self.settings.program}", "not asked for"
        if self.settings.program == "ipmitool":
            said = self._run("mc", "info").decode("latin-1").splitlines()
            pairs = (line.split(":", 1) for line in said if ":" in line)
            about = {key.strip(): value.strip() for key, value in pairs}
            names = ("Manufacturer Name", "Product Name", "Product ID", "Firmware Revision")
            known = [f"{name.lower()} {about[name]}" for name in names if name in about]
            model, serial = f"BMC, {', '.join(known)}", self._guid()
        return self.settings.info(
            model=model,
            serial=serial,
            boundary=self.settings.boundary or "wall",
            resolution_w=1.0,
            source="DCMI power reading; accuracy as the settings have it, 5 % assumed without",
        )

    def ask(self) -> bytes:
        """Return the program's output for a power reading."""
        return self._run(*READING[self.settings.program])

    def _guid(self) -> str:
        """Return the system's GUID; some controllers have none."""
        try:
            match = re.search(rb"System GUID\s*:\s*([-0-9A-Fa-f]+)", self._run("mc", "guid"))
        except FsgreenError:
            match = None
        return "no GUID" if match is None else match[1].decode("ascii")

    def _run(self, *command: str) -> bytes:
        return asking.answer(
            [self.settings.program, *self._login, *command],
            timeout_s=self.settings.timeout_s,
            next_step=THERE if self._login else HERE,
            environment=self._secrets if self._login else {},
        )


DRIVER = Driver(
    name="ipmi",
    kind="counter",
    summary="a server's management controller (IPMI DCMI) through ipmitool",
    settings=IpmiSettings,
    open=Ipmi,
    parser=IpmiParser,
    missing=partial(asking.missing, "ipmitool", "ipmitool"),
    find=lambda: ['program = "ipmitool"'] if any(Path(d).exists() for d in DEVICES) else [],
)
