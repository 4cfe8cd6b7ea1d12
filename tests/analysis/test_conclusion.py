"""The sentences above the tables of notebook 60: how many comparisons differ, and how far."""

import pandas as pd
import pytest

from fsgreen.analysis import conclusion

COLUMNS = (
    *("workload", "metric", "file_system", "option", "baseline_file_system", "baseline_option"),
    *("ratio_x", "ratio_low_x", "ratio_high_x", "outcome", "boundary"),
)
ROWS = [
    ("varmail", "throughput", "xfs", "default", "ext4", "default", 0.5, 0.4, 0.625, "different"),
    ("varmail", "throughput", "ext4", "noatime", "ext4", "default", 1.2, 1.1, 1.3, "different"),
    ("varmail", "throughput", "ext2", "default", "ext4", "default", 9, 0.1, 99, "inconclusive"),
    ("webserver", "efficiency", "xfs", "default", "ext4", "default", 1, 0.99, 1.01, "equivalent"),
]


@pytest.fixture
def said() -> list[str]:
    effects = pd.DataFrame([(*row, "modelled") for row in ROWS], columns=COLUMNS)
    return list(conclusion.sentences(effects))


def test_the_largest_difference_is_one_that_is_shown(said: list[str]) -> None:
    """The widest interval has the largest ratio, and says nothing."""
    assert said[0] == (
        "varmail, throughput: 3 comparisons, 2 different, 1 inconclusive. The largest difference: "
        "ext4 has 2 [1.6, 2.5] times that of xfs."
    )


def test_where_nothing_differs_nothing_is_ranked_and_modelled_watts_are_named(
    said: list[str],
) -> None:
    assert said[1] == (
        "webserver, efficiency (modelled watts): 1 comparison, 1 equivalent. "
        "No difference is shown."
    )


def test_a_campaign_without_comparisons_has_no_conclusion() -> None:
    assert not list(conclusion.sentences(pd.DataFrame(columns=COLUMNS)))
