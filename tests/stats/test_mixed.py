"""Mixed models: published estimates, contrasts by hand, and what makes them give way."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from fsgreen.stats import mixed_model

# Travel time of ultrasound in six rails, three tests each (Pinheiro & Bates 2000, section 1.1).
RAILS = [55, 53, 54, 26, 37, 32, 78, 91, 85, 92, 100, 96, 49, 51, 50, 80, 85, 83]


def campaign(cells=4, blocks=6, block_sd=0.05, sd=0.02, seed=0, noise=None):
    rng = np.random.default_rng(seed)
    cell, block = (side.ravel() for side in np.indices((cells, blocks)))
    drawn = rng.normal(size=cell.size) if noise is None else noise(rng, cell)
    logs = 0.1 * cell + block_sd * rng.normal(size=blocks)[block] + sd * drawn
    return pd.DataFrame({"cell": cell, "block": block, "rate": 100 * np.exp(logs)})


def test_the_published_example_of_the_rails():
    """Pinheiro & Bates 2000, section 1.1: mean 66.5, sd 24.805 between rails and 4.0208 inside."""
    rails = pd.DataFrame(
        {"block": np.repeat(range(6), 3), "all": "", "rate": np.exp(np.array(RAILS) / 100)}
    )
    model = mixed_model(rails, ["all"], "rate")
    assert model.effects == pytest.approx([0.665])
    assert model.block_percent == pytest.approx(24.805, abs=0.01)
    assert model.trial_percent == pytest.approx(4.0208, abs=0.001)
    assert not model.trouble


def test_a_contrast_in_complete_blocks_is_that_of_the_analysis_of_variance():
    """Ratio of geometric means, error sqrt(2 MS / blocks), 15 degrees of freedom."""
    table = campaign()
    logs = np.log(table["rate"].to_numpy()).reshape(4, 6)
    residual = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0) + logs.mean()
    error = math.sqrt(2 * (residual**2).sum() / 15 / 6)
    difference = logs[2].mean() - logs[0].mean()
    ratio, p = mixed_model(table, ["cell"], "rate").ratio([2], [0])
    assert ratio.value == pytest.approx(math.exp(difference))
    reach = math.exp(t.ppf(0.975, 15) * error)
    assert ratio.high / ratio.value == pytest.approx(reach, rel=1e-4)
    assert p == pytest.approx(2 * t.sf(difference / error, 15), rel=1e-3)


def test_factors_add_up():
    """Two file systems, two options: an effect of each, whatever the level of the other."""
    table = campaign(sd=0.001)
    table["file_system"] = np.where(table["cell"] < 2, "ext4", "xfs")
    table["option"] = np.where(table["cell"] % 2 == 0, "default", "noatime")
    model = mixed_model(table, ["file_system", "option"], "rate")
    one, _ = model.ratio(["ext4", "noatime"], ["ext4", "default"])
    other, _ = model.ratio(["xfs", "noatime"], ["xfs", "default"])
    assert one.value == pytest.approx(other.value)
    assert one.value == pytest.approx(math.exp(0.1), rel=0.002)


def test_blocks_that_do_not_differ_are_the_boundary_and_no_failure():
    """A variance of zero between blocks leaves the effects as they are."""
    table = campaign(cells=8)
    logs = np.log(table["rate"])
    table["rate"] = np.exp(logs - logs.groupby(table["block"]).transform("mean"))
    model = mixed_model(table, ["cell"], "rate")
    assert model.boundary
    assert not model.trouble
    assert math.isfinite(model.ratio([1], [0])[1])


def test_the_unit_does_not_matter():
    """ops/s or Mops/s: the same ratio, though an optimiser has bounds of its own."""
    table = campaign()
    one, _ = mixed_model(table, ["cell"], "rate").ratio([1], [0])
    other, _ = mixed_model(table.assign(rate=1e-6 * table["rate"]), ["cell"], "rate").ratio(
        [1], [0]
    )
    assert other.low == pytest.approx(one.low, rel=1e-4)


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
    model = mixed_model(table, ["cell"], "rate")
    assert trouble in model.trouble
    ratio, p = model.ratio([1], [0])
    assert not ratio.has_interval
    assert math.isnan(p)


def test_a_missing_value_stops_the_model():
    """NaN must not be dropped silently."""
    table = campaign()
    table.loc[3, "rate"] = math.nan
    with pytest.raises(ValueError):
        mixed_model(table, ["cell"], "rate")
