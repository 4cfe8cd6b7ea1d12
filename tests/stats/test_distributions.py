"""Quantiles and tails: those of `scipy.stats` to the bit, or a verdict would turn on its import."""

import numpy as np
import pytest
import scipy

from fsgreen.stats import distributions

PROBABILITIES = np.array([1e-9, 0.025, 0.5, 0.9, 0.975, 0.995, 1 - 1e-9, np.nan])
VALUES = np.array([0.0, 1e-3, 0.5, 2.0, 40.0, np.inf, np.nan])
DEGREES = np.array([0.3, 1, 2, 2.5, 3, 4, 7, 9.99, 30, 100, 1e5])[:, None]

SAME = {
    "t_quantile": (distributions.t_quantile, scipy.stats.t.ppf, PROBABILITIES),
    "t_tail": (distributions.t_tail, scipy.stats.t.sf, np.concatenate([-VALUES, VALUES])),
    "chi2_quantile": (distributions.chi2_quantile, scipy.stats.chi2.ppf, PROBABILITIES),
    "chi2_cdf": (distributions.chi2_cdf, scipy.stats.chi2.cdf, VALUES),
    "chi2_tail": (distributions.chi2_tail, scipy.stats.chi2.sf, VALUES),
    "f_tail": (
        lambda value, degrees: distributions.f_tail(value, degrees, 2 * degrees),
        lambda value, degrees: scipy.stats.f.sf(value, degrees, 2 * degrees),
        VALUES,
    ),
    "normal_quantile": (
        lambda probability, _: distributions.normal_quantile(probability),
        lambda probability, _: scipy.stats.norm.ppf(probability),
        PROBABILITIES,
    ),
    "normal_cdf": (
        lambda value, _: distributions.normal_cdf(value),
        lambda value, _: scipy.stats.norm.cdf(value),
        VALUES,
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_it_is_what_scipy_says(name: str) -> None:
    ours, theirs, given = SAME[name]
    np.testing.assert_array_equal(ours(given, DEGREES), theirs(given, DEGREES))


@pytest.mark.parametrize("degrees", [0, -1, np.nan])
def test_an_interval_without_a_degree_of_freedom_has_no_ends(degrees: float) -> None:
    assert np.isnan(distributions.t_quantile(0.975, degrees))
    assert np.isnan(distributions.t_tail(2.0, degrees))
