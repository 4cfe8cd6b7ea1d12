"""The labs on disks that are small enough for a test."""

from pathlib import Path
from typing import Any

from fsgreen.simdisk import server


def parameters(folder: Path) -> dict[str, dict[str, Any]]:
    """Other parameters of the labs that need some, by lab; what they name is put in a folder."""
    flash = folder / "small.toml"
    drive = server.parameters("x25-m-g2")
    flash.write_text(drive.replace("capacity_gib = 74.53", "capacity_gib = 4.0"))
    return {
        "fool_yourself_with_a_disk": {"profile": "ddys-t36950n", "flash": str(flash)},
        "teach_a_server_to_read_ahead": {"total_mib": 8},
    }
