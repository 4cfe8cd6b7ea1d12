"""Mixed models: published estimates, the scatter by hand, and what makes them give way."""

import math

import numpy as np
import pandas as pd
import pytest

from fsgreen.stats import WILD, mixed_model

# Travel time of ultrasound in six rails, three tests each (Pinheiro & Bates 2000, section 1.1).
RAILS = [55, 53, 54, 26, 37, 32, 78, 91, 85, 92, 100, 96, 49, 51, 50, 80, 85, 83]


def campaign(cells=4, blocks=6, block_sd=0.05, sd=0.02, seed=0, noise=None):
    rng = np.random.default_rng(seed)
    cell, block = (side.ravel() for side in np.indices((cells, blocks)))
    drawn = rng.normal(size=cell.size) if noise is None else noise(rng, cell)
    logs = 0.1 * cell + block_sd * rng.normal(size=blocks)[block] + sd * drawn
    return pd.DataFrame({"cell": cell, "block": block, "rate": 100 * np.exp(logs)})


def test_the_published_example_of_the_rails():
    """Pinheiro & Bates 2000, section 1.1: sd 24.805 between rails and 4.0208 inside."""
    rails = pd.DataFrame(
        {"block": np.repeat(range(6), 3), "all": "", "rate": np.exp(np.array(RAILS) / 100)}
    )
    model = mixed_model(rails, "all", "rate")
    assert model.block_percent == pytest.approx(24.805, abs=0.01)
    assert model.trial_percent == pytest.approx(4.0208, abs=0.001)


def test_the_scatter_in_complete_blocks_is_that_of_the_analysis_of_variance():
    """Mean square of residuals with 15 degrees of freedom; a block of four cells brings three."""
    table = campaign()
    logs = np.log(table["rate"].to_numpy()).reshape(4, 6)
    residual = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0) + logs.mean()
    scatter = mixed_model(table, "cell", "rate").scatter()
    assert scatter.sd == pytest.approx(math.sqrt((residual**2).sum() / 15))
    assert (scatter.degrees, scatter.block_degrees) == (15, 3)


def test_blocks_that_do_not_differ_are_no_failure():
    """A variance of zero between blocks leaves that inside them as it is."""
    table = campaign(cells=8)
    logs = np.log(table["rate"])
    table["rate"] = np.exp(logs - logs.groupby(table["block"]).transform("mean"))
    model = mixed_model(table, "cell", "rate")
    assert model.block_percent < 0.2
    assert not model.trouble
    logs = np.log(table["rate"].to_numpy()).reshape(8, 6)
    residual = logs - logs.mean(axis=1, keepdims=True)
    assert model.scatter().sd == pytest.approx(math.sqrt((residual**2).sum() / 35))


def test_a_wild_cell_is_named_and_left_to_the_bootstrap():
    """A cell that scatters more must not have the certainty of the rest."""
    calm = campaign(cells=12, seed=3)
    logs = np.log(calm["rate"])
    swing = calm["block"].map({0: 0.04, 1: -0.04, 2: 0.03, 3: -0.03, 4: 0.03, 5: -0.03})
    table = calm.assign(rate=np.exp(logs + swing * (calm["cell"] == 7)))
    model = mixed_model(table, "cell", "rate")
    assert 7 in model.wild
    calm_ones = sorted(set(range(12)) - model.wild)
    assert len(calm_ones) > 6
    assert model.refuses(7, calm_ones[0]) == model.refuses(calm_ones[0], 7) == WILD
    assert 0.02 < model.scatter(*calm_ones[:2]).sd < 0.03
    assert model.scatter(calm_ones[0], 7) is None


def test_too_few_trials_to_see_unequal_variances_are_trouble():
    """What cannot be looked at must not pass; one short cell among many must not blind the test."""
    few = mixed_model(campaign(blocks=2, cells=20), "cell", "rate")
    assert "too few trials for its diagnostics" in few.trouble
    table = campaign(blocks=12, cells=8, noise=uneven)
    short = table[(table["cell"] != 5) | (table["block"] < 2)]
    assert "variances of cells differ" in mixed_model(short, "cell", "rate").trouble


def test_the_unit_does_not_matter():
    """ops/s or Mops/s: the same scatter, though an optimiser has bounds of its own."""
    table = campaign()
    one = mixed_model(table, "cell", "rate")
    other = mixed_model(table.assign(rate=1e-6 * table["rate"]), "cell", "rate")
    assert other.trial_percent == pytest.approx(one.trial_percent, rel=1e-4)


def wild(rng, cell):
    return np.where(rng.random(cell.size) < 0.15, -30.0, rng.normal(size=cell.size))


def uneven(rng, cell):
    return rng.normal(size=cell.size) * np.where(cell == 0, 40.0, 1.0)


@pytest.mark.parametrize(
    ("table", "trouble"),
    [
        (campaign(blocks=12, noise=wild), "residuals are not normal"),
        (campaign(blocks=12, noise=uneven), "variances of cells differ"),
        (campaign(sd=0.0), "no scatter between trials"),
        (campaign(blocks=1), "too few blocks or trials"),
        (campaign().assign(rate=lambda table: table["rate"] * (table["block"] > 0)), "a value is"),
    ],
)
def test_what_breaks_the_assumptions_is_named(table, trouble):
    """The report must say why the bootstrap was used."""
    model = mixed_model(table, "cell", "rate")
    assert trouble in model.trouble
    assert model.refuses() == model.trouble
    assert model.scatter() is None


def test_a_missing_value_stops_the_model():
    """NaN must not be dropped silently."""
    table = campaign()
    table.loc[3, "rate"] = math.nan
    with pytest.raises(ValueError):
        mixed_model(table, "cell", "rate")
