"""A machine in broad terms: what may be said of it is listed here, and all else is left out.

What kernels and meters call themselves may hold the name of a host or of a person: a plug by
Tasmota tells its own, an agent of SNMP that of the machine, and many a kernel is named by whoever
built it. So a text goes along word by word, and only words that are known.
"""

from __future__ import annotations

import re
from collections.abc import Collection

ANOTHER = "another"
"""In place of a word that is not one of those which may be said."""

WORDS = frozenset(
    {
        # processors
        *("Intel", "Xeon", "Core", "Atom", "Celeron", "Pentium", "Ultra", "Processor", "CPU"),
        *("Gold", "Silver", "Bronze", "Platinum", "Gen", "AMD", "EPYC", "Ryzen", "Opteron"),
        *("Athlon", "Threadripper", "PRO", "Radeon", "Graphics", "with", "ARM", "Neoverse"),
        *("Cortex", "Apple", "Ampere", "Altra", "Graviton", "POWER9", "POWER10", "QEMU", "Virtual"),
        *("v2", "v3", "v4", "v5", "v6", "@"),
        # disks
        *("Samsung", "SAMSUNG", "SSD", "HDD", "NVMe", "EVO", "Seagate", "Western", "Digital"),
        *("WDC", "Hitachi", "HGST", "Toshiba", "TOSHIBA", "Kingston", "Crucial", "Micron"),
        *("SanDisk", "INTEL", "IBM", "Maxtor", "Atlas", "Ultrastar", "Caviar", "Constellation"),
        *("Barracuda", "Optane", "X25-M", "G2", "slowed", "ten", "times", "TB", "GB", "HARDDISK"),
        *("desktop", "notebook", "server", "disk"),
        # meters
        *("Watts", "Up", "Shelly", "Tasmota", "Yokogawa", "YOKOGAWA", "Keysight", "Rohde&Schwarz"),
        *("ZES", "ZIMMER", "Hioki", "HIOKI", "Chroma", "PowerSensor3", "Quarch", "RAPL", "HOBO"),
        *("APC", "Raritan", "Dell", "HPE", "Lenovo", "Supermicro", "emulated", "energy", "account"),
        *("of", "a", "simulated"),
    }
)
"""Words of the names that makers give to hardware."""

NUMBER = re.compile(
    r"(?:i[3579]-|E[357]-|[A-Z]{1,2}(?=\d{3}))?"  # i7-, E5-, ST4000
    r"\d{1,5}(?:[A-Z]{1,3}(?:\d{1,2}[A-Z]?)?)?"  # 6226R, 9950X3D, 1TB
    r"|\d\.\d{1,2}GHz|\d{1,3}-Core|\d{1,2}th"
)
"""Numbers of models; too short for a serial number, and without what addresses have in them."""

MARKS = re.compile(r"\((?:R|TM|C)\)", re.IGNORECASE)

KERNEL = re.compile(r"Linux (\d{1,3}(?:\.\d{1,4}){1,2})\b")

ARCHITECTURES = ("x86_64", "aarch64", "armv7l", "i686", "ppc64le", "riscv64", "s390x")

GIB = 2**30


def hardware(name: object) -> str:
    """Return the words of a name of hardware that may be said; "" where there is none."""
    words = (word.strip(",;:?()") for word in MARKS.sub(" ", _text(name)).split())
    return " ".join(word for word in words if word in WORDS or NUMBER.fullmatch(word))


def kernel(name: object) -> str:
    """Return kernel and version without what its builder added; "" of any other text."""
    found = KERNEL.match(_text(name))
    return f"Linux {found[1]}" if found else ""


def architecture(name: object) -> str:
    """Return the architecture at the end of the name of a kernel."""
    return one_of(_text(name).rpartition(" ")[2], ARCHITECTURES)


def one_of(value: object, known: Collection[str]) -> str:
    """Return a word that is known, or that it is another."""
    return value if isinstance(value, str) and value in known else ANOTHER


def memory_b(exact_b: object) -> int | None:
    """Return the memory in whole GiB, given in bytes; its last bytes tell machines apart."""
    if not isinstance(exact_b, int | float) or exact_b <= 0:
        return None
    return max(1, round(exact_b / GIB)) * GIB


def number(value: object) -> float | None:
    """Return a number that is one, of a value that may be anything."""
    sound = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return float(value) if sound and abs(value) != float("inf") else None  # type: ignore[arg-type]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
