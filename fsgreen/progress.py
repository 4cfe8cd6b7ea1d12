"""How far work is that may take longer than anybody waits without a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

DELAY_S = 5.0
"""Work that is done before says nothing."""


def progress(items: Iterable[Any] | None, what: str, unit: str, total: int | None = None) -> Any:
    """Return the items in a bar that names the work and its unit, in a terminal or a notebook.

    Without items it counts to `total` by its method `update`. It goes when all is done.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:  # a guest has the standard library alone
        return items
    return tqdm(items, desc=what, unit=unit, total=total, delay=DELAY_S, leave=False)
