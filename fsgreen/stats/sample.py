"""What every statistic accepts as a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05
"""Level of every test: a p-value below it counts."""

Floats = NDArray[np.float64]


def sample_of(values: ArrayLike) -> Floats:
    """Return values as floats, shape (n,) with n at least 1.

    Raises ValueError if there is none, or one is NaN or infinite: it would vanish in a mean or
    poison it.
    """
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or sample.size == 0 or not np.isfinite(sample).all():
        raise ValueError("a sample needs at least one trial and finite values only")
    return sample


def constant(sample: Floats) -> bool:
    """Return whether all values of a sample are the same."""
    return bool(sample.min() == sample.max())
