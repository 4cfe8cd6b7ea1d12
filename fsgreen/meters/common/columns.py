"""Flags of many readings at once, from masks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

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
