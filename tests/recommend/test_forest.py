"""The figure of a recommendation."""

import synthetic

from fsgreen.recommend.forest import forest
from tests.recommend.choices import made


def test_the_forest_groups_by_what_a_change_takes():
    """A reader must not take a format option for a mount option."""
    table = made(scatter=0.004, speed={"varmail-ext3-blk2k": 2.0}).reset_index()
    figure = forest(table)
    left = figure.axes[0]
    headings = {text.get_text(): text.get_position()[1] for text in left.texts}
    names = dict(
        zip((x.get_text() for x in left.get_yticklabels()), left.get_yticks(), strict=True)
    )
    assert headings["mount options"] < names["Ext3 dtlg"] < headings["format options"]
    assert names["Ext3 blk2k"] == headings["format options"] + 1
    assert names["Ext3 blk1k"] < headings["other file systems"] < names["XFS default"]
    assert any("modelled power" in text.get_text() for text in figure.axes[1].texts)


def test_with_nothing_to_choose_from_the_figure_says_so():
    only = synthetic.cells(["varmail"], ["ext3"])
    figure = forest(made(of=only).reset_index())
    assert "Nothing but ext3/default" in figure.axes[0].texts[0].get_text()
