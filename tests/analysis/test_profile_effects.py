"""What may be said of two cells' latency profiles."""

import numpy as np
import pandas as pd
import pytest
import synthetic
from latencies import cell, peak_at

from fsgreen.analysis.latency_profiles import conclusion, of_cell, peaks_table, profile_effects
from fsgreen.errors import FsgreenError


def pair(blocks=5, seed=0, by=3.0):
    """Ext2 and Ext3: the latter is slower in `create` by so many buckets."""
    rng = np.random.default_rng(seed)
    wander = rng.normal(0, 0.1, (2, 2, blocks))
    return [
        cell(
            {
                "create": [peak_at(13 + slower + x) for x in wander[index, 0]],
                "close": [peak_at(9 + x) for x in wander[index, 1]],
            },
            file_system,
        )
        for index, (file_system, slower) in enumerate((("ext2", 0), ("ext3", by)))
    ]


def said(cells):
    return conclusion(*cells, profile_effects(*cells, synthetic.BOUNDS))


def test_a_difference_is_said_with_its_size_and_side():
    """Three buckets are eight times, and it is Ext3 that takes them."""
    cells = pair()
    effects = profile_effects(*cells, synthetic.BOUNDS)
    assert effects["operation"].tolist() == ["create", "close"]
    assert effects["outcome"].tolist() == ["different", "inconclusive"]
    sentence = said(cells)
    assert sentence.startswith("1 of 2 operations of webserver differ")
    assert "create" in sentence
    factor = float(sentence.split("which takes about ")[1].split(" times")[0])
    assert factor == pytest.approx(8, rel=0.15)
    assert "on ext3/default as on ext2/default" in sentence
    assert "on ext3/default as on ext2/default" in said(cells[::-1])


def test_nothing_is_claimed_within_noise_or_from_too_few_blocks():
    """Rules 26 and 37: the largest distance is told as what it is."""
    for cells in (pair(by=0.0), pair(blocks=4)):
        assert set(profile_effects(*cells, synthetic.BOUNDS)["outcome"]) == {"inconclusive"}
        assert said(cells).startswith("No operation of webserver is shown to differ")
        assert "two trials of one cell are" in said(cells)
    assert "one block cannot tell it from noise" in said(pair(blocks=1))


def test_an_unknown_cell_names_the_nearest():
    """A mistyped option must not give an empty figure."""
    cells = pd.concat(pair())
    assert set(of_cell(cells, "webserver", "ext3/default")["file_system"]) == {"ext3"}
    with pytest.raises(FsgreenError, match="did you mean webserver ext2/default"):
        of_cell(cells, "webserver", "ext2/defalt")
    with pytest.raises(FsgreenError, match="unknown cell"):
        of_cell(cells.iloc[:0], "webserver", "ext2/default")


def test_cells_that_share_no_block_say_how_to_go_on():
    """A campaign in progress may have measured one of the two only."""
    one, other = pair(blocks=1)
    with pytest.raises(FsgreenError, match=r"ext2/default and ext3/default.*no block in common"):
        profile_effects(one, other.assign(block=2), synthetic.BOUNDS)


def test_the_peaks_of_both_cells_stand_together():
    """A second path of one cell is a row that the other has not."""
    one = cell({"open": [peak_at(11, 9_000) + peak_at(24, 1_000)] * 2})
    other = cell({"open": [peak_at(11)] * 2}, "xfs")
    table = peaks_table(one, other)
    assert table["cell"].tolist() == ["ext2/default", "ext2/default", "xfs/default"]
    assert table["lower_ns"].tolist() == [2**11, 2**24, 2**11]
    assert table["share_percent"].tolist() == pytest.approx([90, 10, 100], rel=0.01)
