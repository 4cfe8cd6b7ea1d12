"""Distances of latency profiles, when they are more than noise, and peaks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from latencies import cell, peak_at
from scipy.stats import wasserstein_distance

from fsgreen.stats import compare_profiles, emd, peaks, shift

PROFILE = st.lists(st.integers(0, 1000), min_size=12, max_size=12).filter(any)


@given(PROFILE, PROFILE)
def test_the_distance_is_that_of_transport_theory(one, other):
    """A wrong distance would rank the wrong operation first."""
    buckets = range(12)
    assert emd(one, other) == pytest.approx(wasserstein_distance(buckets, buckets, one, other))
    assert emd(one, other) == pytest.approx(emd(other, one))
    assert abs(shift(one, other)) <= emd(one, other) + 1e-9


@given(PROFILE, st.integers(1, 50))
def test_a_longer_trial_is_no_other_profile(profile, times):
    """Distances compare where the operations are, not how many there were."""
    assert emd(profile, np.multiply(profile, times)) == pytest.approx(0, abs=1e-9)


def test_twice_the_latency_is_one_bucket():
    """The unit: all operations a factor of two slower are at a distance of 1, a shift of +1."""
    fast, slow = [0, 5, 3, 0], [0, 0, 5, 3]
    assert emd(slow, fast) == pytest.approx(1)
    assert shift(slow, fast) == pytest.approx(1)
    assert shift(fast, slow) == pytest.approx(-1)


def test_no_operations_are_at_no_distance():
    """Nothing measured is not the same as equal."""
    assert math.isnan(emd([0, 0], [1, 2]))


def test_each_path_is_a_peak_with_its_share():
    """A rare slow path, one in a hundred, is found beside the fast one; the shares are all."""
    profile = peak_at(11, 99_000) + peak_at(24, 1_000)
    found = peaks(profile)
    assert [peak.bucket for peak in found] == [11, 24]
    assert [peak.share for peak in found] == pytest.approx([0.99, 0.01], rel=1e-3)


def test_single_operations_are_no_peaks():
    """Stragglers beyond the tail would else be read as a second path."""
    profile = peak_at(11)
    profile[[18, 20, 25]] = [2, 1, 3]
    assert [peak.bucket for peak in peaks(profile)] == [11]


def test_peaks_at_the_ends_and_none():
    """The first and the last bucket can be peaks; a profile without operations has none."""
    assert [(peak.bucket, peak.share) for peak in peaks([50, 0, 0, 150])] == [(0, 0.25), (3, 0.75)]
    assert peaks([100]) == peaks([100, 0])
    assert peaks([0, 0, 0]) == []
    assert peaks([]) == []


def noisy(rng, bucket, blocks=5, spread=0.1):
    """Blocks whose peak wanders about a bucket, or about one bucket for each block."""
    return [peak_at(centre) for centre in bucket + rng.normal(0, spread, blocks)]


def test_the_operation_that_differs_comes_first():
    """Half a bucket is found among noise of a tenth, with its size and its side."""
    rng = np.random.default_rng(1)
    slow = cell({"close": noisy(rng, 10), "read": noisy(rng, 12.5), "open": noisy(rng, 11)})
    fast = cell({"close": noisy(rng, 10), "read": noisy(rng, 12), "open": noisy(rng, 11)})
    table = compare_profiles(slow, fast)
    first = table.iloc[0]
    assert first["operation"] == "read"
    assert first["emd_low_buckets"] < 0.5 < first["emd_high_buckets"]
    assert first["shift_buckets"] == pytest.approx(0.5, abs=0.15)
    assert first["scatter_buckets"] < 0.2
    assert first["family_p"] < 0.05
    assert (table["family_p"].iloc[1:] > 0.05).all()
    assert (table["family_p"] >= table["difference_p"]).all()


def test_noise_is_seldom_called_a_difference():
    """At most one family in twenty, however many operations there are in a trial (rule 2)."""
    rng = np.random.default_rng(2)
    called = 0
    for _ in range(200):
        blocks = 11 + rng.normal(0, 0.1, 5)
        cells = [cell({name: noisy(rng, blocks, spread=0.3) for name in "abcd"}) for _ in "12"]
        called += compare_profiles(*cells)["family_p"].min() < 0.05
    assert called <= 200 * 0.05 + 3 * math.sqrt(200 * 0.05 * 0.95)


def test_many_operations_can_all_differ_in_five_blocks():
    """A correction that no data could pass would hide what is plain to see."""
    rng = np.random.default_rng(3)
    names = [f"operation {number}" for number in range(9)]
    slow = cell({name: noisy(rng, 14) for name in names})
    fast = cell({name: noisy(rng, 10) for name in names})
    assert (compare_profiles(slow, fast)["family_p"] == 1 / 126).all()


def test_another_shape_with_the_same_mean_is_found():
    """Half of the operations faster and half slower: no shift, but a difference.

    Each half of a bell moves by 3 less the mean of a half normal distribution.
    """
    rng = np.random.default_rng(4)
    split = [a + b for a, b in zip(noisy(rng, 8), noisy(rng, 14), strict=True)]
    (row,) = compare_profiles(cell({"read": split}), cell({"read": noisy(rng, 11)})).itertuples()
    assert abs(row.shift_buckets) < 0.2
    assert row.emd_buckets == pytest.approx(3 - math.sqrt(2 / math.pi), abs=0.1)
    assert row.family_p < 0.05


def test_the_side_of_a_cell_does_not_matter():
    """Candidate and baseline exchanged: the same distance and p, the other sign."""
    rng = np.random.default_rng(5)
    cells = [cell({"read": noisy(rng, 11), "open": noisy(rng, bucket)}) for bucket in (9, 9.2)]
    one, other = compare_profiles(*cells), compare_profiles(*reversed(cells))
    same = ["operation", "emd_buckets", "scatter_buckets", "difference_p", "family_p"]
    assert one[same].round(9).equals(other[same].round(9))
    assert one["shift_buckets"].tolist() == pytest.approx([-x for x in other["shift_buckets"]])


@pytest.mark.parametrize(("blocks", "least"), [(2, 1 / 3), (8, 1 / 6435), (12, 1e-4)])
def test_more_blocks_can_be_surer(blocks, least):
    """All ways to part the trials count, or 10,000 of them: two blocks can never show much."""
    rng = np.random.default_rng(6)
    cells = [cell({"read": noisy(rng, bucket, blocks)}) for bucket in (9, 19)]
    assert compare_profiles(*cells)["difference_p"].tolist() == pytest.approx([least], rel=0.02)


def test_one_block_has_a_distance_and_no_p_value():
    """A first look after one block must not look like a result."""
    (row,) = compare_profiles(cell({"a": [[0, 9]]}), cell({"a": [[9, 0]]})).itertuples()
    assert row.emd_buckets == 1
    unknown = [row.emd_low_buckets, row.scatter_buckets, row.difference_p, row.family_p]
    assert all(map(math.isnan, unknown))


def test_equal_profiles_do_not_differ():
    """No variation at all, as in a simulation, is neither an error nor a difference."""
    same = cell({"read": [[3, 4, 5]] * 5})
    (row,) = compare_profiles(same, same).itertuples()
    assert (row.emd_buckets, row.difference_p, row.family_p) == (0, 1, 1)


def test_an_operation_of_one_cell_stays_in_the_table():
    """It cannot be compared, and must neither vanish nor disturb the others."""
    rng = np.random.default_rng(7)
    one = cell({"read": noisy(rng, 12), "fsync": noisy(rng, 20)})
    other = cell({"read": noisy(rng, 10)})
    table = compare_profiles(one, other).set_index("operation")
    assert table.index.tolist() == ["read", "fsync"]
    assert table.loc["read", "family_p"] < 0.05
    assert table.loc["fsync", "baseline_ops"] == 0
    assert math.isnan(table.loc["fsync", "emd_buckets"])
    assert math.isnan(table.loc["fsync", "family_p"])


def test_cells_of_different_blocks_are_not_compared():
    """Nothing is paired then, and drift would be read as a difference."""
    with pytest.raises(ValueError, match="no block in common"):
        late = cell({"read": [[1]]}).assign(block=2)
        compare_profiles(cell({"read": [[1]]}), late)
