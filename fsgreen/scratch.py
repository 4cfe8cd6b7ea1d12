"""Copies of results for a notebook that a person runs: looking and trying change no result."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path


def in_a_kernel() -> bool:
    """Return whether this is a kernel of Jupyter: the pipeline runs notebooks without one."""
    kernels = sys.modules.get("ipykernel.kernelapp")
    return kernels is not None and bool(kernels.IPKernelApp.initialized())


@cache
def copied(folder: Path, own: Path) -> Path:
    """Copy a folder of results, say so, and return the copy.

    What was made in the copy is kept until there is newer.
    """
    for file in folder.rglob("*"):
        copy = own / file.relative_to(folder)
        if file.is_file() and not (copy.exists() and copy.stat().st_mtime >= file.stat().st_mtime):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
    print(
        f"{folder.name} is a result that ships, so this notebook writes to {own}. "
        "To write to the results: FSGREEN_OVERWRITE=1 ./run lab"
    )
    return own
