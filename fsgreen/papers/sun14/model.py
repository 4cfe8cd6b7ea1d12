"""What the simulated SSD-I has in place of each value of table 1, and where it comes from."""

from __future__ import annotations

from typing import NamedTuple

SLOWER = {"x25-m-g2": 1, "x25-m-g2-slowed": 10}
"""How many times as slow as SSD-I its models are, by their names among simulated disks."""

AS_PRINTED = "as printed"


class Known(NamedTuple):
    """What a model has in place of a printed value, as a text, and where it comes from."""

    value: str
    source: str


def model(disk: str) -> dict[str, Known]:
    """Return what a disk of `SLOWER` has, by the columns of table 1.

    The engine's files of these disks say the same with all their parameters; a test compares them.
    """
    slower = SLOWER[disk]
    slowed = f", {slower} times slower" if slower > 1 else ""
    return {
        "product": Known(f"the model {disk}", ""),
        "capacity_gb": Known("80", AS_PRINTED),
        "flash_type": Known(
            "MLC, 20 dies at 10 channels", "published dissections; a data sheet of such chips"
        ),
        "controller": Known(f"{0.025 * slower:g} ms a command", f"assumed{slowed}"),
        "dram_mb": Known("0.25, a cache of writes", "assumed"),
        "read_mb_s": Known(f"at most {250 / slower:g}", f"the maker's figure{slowed}"),
        "write_mb_s": Known(
            f"{73.8 / slower:g}", f"the time to program is fitted to what is printed{slowed}"
        ),
        "work_power_w": Known("2.6", "fitted: the watts above idle are shared by the dies"),
        "idle_power_w": Known("0.15", AS_PRINTED),
        "secure_erase": Known("yes", AS_PRINTED),
    }
