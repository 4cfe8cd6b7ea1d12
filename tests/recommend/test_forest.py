"""The figure of a recommendation."""

import synthetic

from fsgreen.analysis.cells import cells_table
from fsgreen.figures.confounds import FLAG
from fsgreen.recommend.forest import forest
from tests.recommend.choices import gate_of, made, ranked, tables


def test_the_forest_groups_by_what_a_change_takes():
    """A reader must not take a format option for a mount option."""
    table = made(scatter=0.004, speed={"varmail-ext3-blk2k": 2.0}).reset_index()
    figure = forest(table)
    left = figure.axes[0]
    headings = {text.get_text(): text.get_position()[1] for text in left.texts}
    names = dict(
        zip((x.get_text() for x in left.get_yticklabels()), left.get_yticks(), strict=True)
    )
    formats, others = headings["format options (mkfs)"], headings["other file systems (mkfs)"]
    assert headings["mount options"] < names["Ext3 dtlg"] < headings["in place, unmounted"]
    assert headings["in place, unmounted"] < names["Ext2 default"] < formats
    assert names["Ext3 blk2k"] == formats + 1
    assert names["Ext3 blk1k"] < others < names["XFS default"]
    assert any("modelled power" in text.get_text() for text in figure.axes[1].texts)


def texts(figure):
    """The texts inside of the left panel, and the small print."""
    inside = [text.get_text() for text in figure.axes[0].texts]
    return inside, " ".join(figure.get_supxlabel().split())


def test_what_a_confound_may_have_made_is_marked_as_such():
    """An open mark would be read as: with more blocks it may be one."""
    trials, cells = tables(scatter=0.004, speed={"varmail-ext3-noatime": 1.3})
    inside, small_print = texts(forest(ranked(trials, cells).reset_index()))
    assert FLAG not in inside
    assert FLAG not in small_print
    gate = gate_of(trials, ["noatime"])
    inside, small_print = texts(forest(ranked(trials, cells, gate=gate).reset_index()))
    assert inside.count(FLAG) == 1
    assert f"{FLAG}: may be the work of a confound" in small_print


def test_without_a_steady_state_there_is_no_mark():
    """A mark is a mean, and there is none (rule 24)."""
    trials, _ = tables()
    trials.loc[trials["option"] == "dtlg", "steady"] = "no steady state"
    cells = cells_table(trials, synthetic.BOUNDS)
    left = forest(ranked(trials, cells).reset_index()).axes[0]
    (said,) = [text for text in left.texts if text.get_text() == "no steady state"]
    marked = [line.get_ydata()[0] for line in left.lines if line.get_marker() in ("o", "s", "D")]
    assert said.get_position()[1] not in marked


def test_a_metric_of_which_nothing_is_known_has_no_empty_panel():
    """Its column of thirty times the same words would be taken for a broken figure."""
    trials, _ = tables()
    trials["steady_power"] = "no steady state"
    figure = forest(ranked(trials, cells_table(trials, synthetic.BOUNDS)).reset_index())
    (only,) = figure.axes
    assert only.get_title(loc="left") == "operations per second"
    assert "operations per joule: no steady state anywhere" in figure.get_supxlabel()


def test_with_nothing_to_choose_from_the_figure_says_so():
    only = synthetic.cells(["varmail"], ["ext3"])
    figure = forest(made(of=only).reset_index())
    assert "Nothing but ext3/default" in figure.axes[0].texts[0].get_text()


def test_two_blocks_promise_no_interval_and_no_filled_mark():
    """The small print named both, and neither is drawn of so few."""
    for blocks, said in ((2, "no interval: 2 blocks; band"), (5, "95 % intervals (5 blocks); ")):
        trials, cells = tables(blocks=blocks)
        _, small_print = texts(forest(ranked(trials, cells).reset_index()))
        assert small_print.startswith(said)
