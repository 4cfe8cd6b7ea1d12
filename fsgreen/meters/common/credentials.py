"""Passwords and tokens of meters: from the environment or a file, never from a testbed file."""

from __future__ import annotations

import os
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.settings import Settings


def secret(settings: Settings, kind: str) -> str:
    """Return a secret; empty where the meter has none.

    `kind` is such as password or token. Its setting KIND_env names an environment variable,
    KIND_file a file whose first line it is. Raises FsgreenError where it is not where it should be.
    """
    variable, file = getattr(settings, f"{kind}_env"), getattr(settings, f"{kind}_file")
    if variable and file:
        settings.refuse(f"give {kind}_env or {kind}_file, not both")
    if variable and not os.environ.get(variable):
        settings.refuse(f"the environment variable {variable} is not set, or empty")
    return _first_line(file, settings.name) if file else os.environ.get(variable, "")


def _first_line(file: str, meter: str) -> str:
    try:
        line = Path(file).expanduser().read_text("utf-8").partition("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise FsgreenError(
            f"the file with the secret of meter {meter} cannot be read: {error}",
            where=file,
            next_step=f"ls -l {file}",
        ) from error
    if not line:
        raise FsgreenError(
            f"the file with the secret of meter {meter} is empty",
            where=file,
            next_step="write the secret into its first line",
        )
    return line
