"""The disk in software: `control` talks to a server of one, `server` starts and ends it."""

from fsgreen.simdisk.control import BUILD, PROGRAM, SCHEDULERS, Control
from fsgreen.simdisk.server import DEFAULT_DISK, Disk, Server, parameters, require

__all__ = [
    "BUILD",
    "DEFAULT_DISK",
    "PROGRAM",
    "SCHEDULERS",
    "Control",
    "Disk",
    "Server",
    "parameters",
    "require",
]
