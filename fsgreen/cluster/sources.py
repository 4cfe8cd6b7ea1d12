"""What computes: two machines with the same code and libraries come to the same bytes."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version

from fsgreen import paths
from fsgreen.fleet.messages import Digest
from fsgreen.schema import Strict

COMPUTE = ("numpy", "pandas", "pyarrow", "scipy")
"""The packages that results rest on."""


class Nothing(Strict):
    """What a machine is told that is asked for its code."""


class Code(Strict):
    """What it answers: its `digest`."""

    sha256: Digest


@cache
def digest() -> str:
    """Return the SHA-256 of fsgreen's modules and of the versions of `COMPUTE`."""
    said = hashlib.sha256("".join(f"{name} {version(name)}\n" for name in COMPUTE).encode())
    for file in sorted((paths.code() / "fsgreen").rglob("*.py")):
        said.update(f"{file.relative_to(paths.code())}\n".encode() + file.read_bytes())
    return said.hexdigest()
