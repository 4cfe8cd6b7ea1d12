"""`nvme` and a drive in software, with power states and, where asked, a power of its own."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from emulated_program import Program

DEVICE = "/dev/nvme0"
CONTROLLER = f"id-ctrl {DEVICE} --output-format=json"
SMART = f"get-log {DEVICE} --log-id=0x2 --log-len=512 --raw-binary"
MEASUREMENT = f"get-log {DEVICE} --log-id=0x25 --log-len=64 --raw-binary"
STATE = f"get-feature {DEVICE} --feature-id=2"

MAX_CENTIWATTS = (850, 450, 300)
MAX_FINE = (250, 50)  # of the two states that rest, in steps of 0.1 mW


def controller(serial: str = "S3ESNX0J315971L") -> bytes:
    """Return what `nvme id-ctrl` says as JSON, the fields that matter here."""
    states = [
        {"max_power": power, "max_power_scale": scale, "non-operational_state": scale}
        for scale, powers in ((0, MAX_CENTIWATTS), (1, MAX_FINE))
        for power in powers
    ]
    about = {"sn": f"{serial:20}", "mn": f"{'Emulated SSD':40}", "fr": "1B2Q    ", "npss": 4}
    return json.dumps({**about, "psds": states}).encode()


def smart_page(power: int = 0, *, scale: int = 2, kind: int = 0, energy_wh: int = 0) -> bytes:
    """Return a SMART log page; `power` counts steps of 0.1 mW (`scale` 1) or 10 mW (2)."""
    page = bytearray(512)
    struct.pack_into("<QI", page, 232, energy_wh, power | scale << 16 | kind << 20 if power else 0)
    return bytes(page)


def measurement_page(percent: int = 3, *, estimated: bool = False) -> bytes:
    """Return the head of a power measurement log page."""
    page = bytearray(64)
    struct.pack_into("<H", page, 2, 1 | estimated << 2)
    page[56] = percent
    return bytes(page)


class Nvme:
    """A program `nvme` in `folder` with one drive; it does not measure until told a power."""

    def __init__(self, folder: Path) -> None:
        self.program = Program(folder, "nvme")
        self.program.says(CONTROLLER, controller())
        self.program.says(SMART, smart_page())
        self.program.fails(MEASUREMENT, "NVMe status: Invalid Log Page(0x109)")
        self.rest(0)

    def rest(self, state: int) -> None:
        """Go into a power state."""
        line = f"get-feature:0x02 (Power Management), Current value:{state:#010x}\n"
        self.program.says(STATE, line.encode())

    def measure(self, power_w: float, energy_wh: int = 7) -> None:
        """Measure from now on."""
        self.program.says(SMART, smart_page(round(power_w * 100), energy_wh=energy_wh))
        self.program.says(MEASUREMENT, measurement_page())
