"""Quantiles and tails of the distributions behind intervals and tests, elementwise.

They are those of `scipy.stats` to the bit, out of `scipy.special`, on which it rests: that is there
in a tenth of the time, and so is each number. SciPy imports it at the first number, so a process
that measures and computes none does not wait for it. Probabilities lie between 0 and 1, both left
out. Without a degree of freedom those of Student's t are NaN.
"""

from __future__ import annotations

from typing import Any

import scipy


def t_quantile(probability: Any, degrees: Any) -> Any:
    """Return what Student's t stays below with a probability."""
    return scipy.special.stdtrit(degrees, probability)


def t_tail(value: Any, degrees: Any) -> Any:
    """Return how probable it is that Student's t exceeds a value."""
    return scipy.special.stdtr(degrees, -value)


def normal_quantile(probability: Any) -> Any:
    """Return what a standard normal variable stays below with a probability."""
    return scipy.special.ndtri(probability)


def normal_cdf(value: Any) -> Any:
    """Return how probable it is that a standard normal variable stays below a value."""
    return scipy.special.ndtr(value)


def chi2_quantile(probability: Any, degrees: Any) -> Any:
    """Return what chi-squared stays below with a probability."""
    return 2 * scipy.special.gammaincinv(degrees / 2, probability)


def chi2_cdf(value: Any, degrees: Any) -> Any:
    """Return how probable it is that chi-squared stays below a value."""
    return scipy.special.chdtr(degrees, value)


def chi2_tail(value: Any, degrees: Any) -> Any:
    """Return how probable it is that chi-squared exceeds a value."""
    return scipy.special.chdtrc(degrees, value)


def f_tail(value: Any, degrees: Any, below: Any) -> Any:
    """Return how probable it is that Fisher's F exceeds a value.

    `degrees` are those of its numerator, `below` those of its denominator.
    """
    return scipy.special.fdtrc(degrees, below, value)
