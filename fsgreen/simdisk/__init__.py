"""The disk in software: `control` talks to a server of one, `server` starts and ends it.

In virtual time (`virtual`) there is none to start; `read_ahead` has a file server on such a disk.
"""

from fsgreen.simdisk.control import PROGRAM, SCHEDULERS, Control
from fsgreen.simdisk.server import DEFAULT_DISK, Disk, Server, parameters, require
from fsgreen.simdisk.virtual import engine

__all__ = [
    "DEFAULT_DISK",
    "PROGRAM",
    "SCHEDULERS",
    "Control",
    "Disk",
    "Server",
    "engine",
    "parameters",
    "require",
]
