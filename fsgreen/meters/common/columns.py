"""What the parsers of fast meters share: readings in columns, and flags from masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import QUANTITIES, Readings

Mask = NDArray[np.bool_]


def flags_of(masks: Mapping[str, Mask]) -> dict[int, str]:
    """Return the flags of those places that some mask marks, in the order of `masks`."""
    names = list(masks)
    code = np.zeros(len(masks[names[0]]), dtype=np.intp)
    for nth, mask in enumerate(masks.values()):
        code |= mask.astype(np.intp) << nth
    places = np.flatnonzero(code)
    if not len(places):
        return {}
    texts = np.array(
        ["|".join(n for i, n in enumerate(names) if c >> i & 1) for c in range(1 << len(names))],
        dtype=object,
    )
    return dict(zip(places.tolist(), texts[code[places]].tolist(), strict=True))


def joined(parts: Sequence[Readings]) -> Readings:
    """Return readings one after the other; a quantity is kept where every part has it."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Readings(np.empty(0), np.empty(0))
    columns: dict[str, Any] = {}
    for name in QUANTITIES:
        pieces = [getattr(part, name) for part in parts]
        whole = all(piece is not None for piece in pieces)
        columns[name] = np.concatenate(pieces) if whole else None
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    return Readings(
        **columns,
        flags={
            start + place: flag
            for start, part in zip(starts, parts, strict=False)
            for place, flag in part.flags.items()
        },
    )
