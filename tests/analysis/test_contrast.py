"""What goes along with a difference: ratios that are known, and what must not be said."""

import numpy as np
import pandas as pd
import pytest

from fsgreen.analysis.contrast import MEANING, contrast, counted
from tests import synthetic


def cell(blocks=8, seed=0, **factors):
    """Trials in which every quantity scatters by 1 % about 1, or about its factor."""
    rng = np.random.default_rng(seed)
    drift = np.exp(np.linspace(0, 1, blocks))
    table = {"block": range(1, blocks + 1)}
    for name in MEANING:
        table[name] = factors.get(name, 1.0) * drift * np.exp(rng.normal(0, 0.01, blocks))
    return pd.DataFrame(table)


def test_what_differs_comes_first_and_drift_that_both_share_cancels():
    one = cell(seed=1, device_write_per_op_b=0.5, latency_p99_s=1.2)
    table = contrast(one, cell(seed=2), paired=True)
    told = table[table["told_apart"]]
    assert told["quantity"].tolist() == ["device_write_per_op_b", "latency_p99_s"]
    assert told["ratio_x"].tolist() == pytest.approx([0.5, 1.2], rel=0.02)
    assert (told["ratio_low_x"] < told["ratio_x"]).all()
    assert set(table["n"]) == {8}


def test_without_common_blocks_the_same_drift_hides_the_difference():
    """Who pretends that blocks are shared, or that they are not, finds another answer."""
    one = cell(seed=1, latency_p99_s=1.2)
    assert not contrast(one, cell(seed=2), paired=False)["told_apart"].any()


def test_two_equal_cells_are_told_apart_as_seldom_as_holm_promises():
    found = [
        contrast(cell(seed=nth), cell(seed=1000 + nth), paired=True)["told_apart"].any()
        for nth in range(40)
    ]
    assert sum(found) <= 6, "2 of 40 are expected; 7 or more happen in 0.3 % of all such tests"


def test_zero_has_no_ratio_and_one_trial_no_interval():
    one, other = cell(seed=1), cell(seed=2)
    one["cpu_iowait_percent"] = 0.0
    row = contrast(one, other, paired=True).set_index("quantity").loc["cpu_iowait_percent"]
    assert np.isnan(row["ratio_x"]) and row["one"] == 0 and not row["told_apart"]
    single = contrast(one.head(1), other.head(1), paired=True)
    assert single["ratio_low_x"].isna().all() and not single["told_apart"].any()


def test_what_nobody_recorded_is_left_out():
    trials = synthetic.trials_frame(synthetic.cells(), blocks=5)
    of_ext3, of_xfs = (trials[trials["file_system"] == name] for name in ("ext3", "xfs"))
    table = contrast(counted(of_xfs), counted(of_ext3), paired=True).set_index("quantity")
    assert "system_per_op_s" not in table.index, "only records know it"
    assert table.loc["throughput_ops_s", "ratio_x"] == pytest.approx(1.3, rel=0.05)
    assert table.loc["device_read_per_op_b", "ratio_x"] == pytest.approx(1, rel=0.01)


def test_two_blocks_give_no_interval():
    """One degree of freedom: the explorer drew lines from edge to edge."""
    for blocks in (2, 3):
        table = contrast(cell(blocks, seed=1), cell(blocks, seed=2), paired=True)
        assert table["ratio_x"].notna().all()
        assert table["ratio_low_x"].notna().eq(blocks > 2).all()
