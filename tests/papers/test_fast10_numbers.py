"""What fast10's report says: who leads, from whom it is not told apart, what repeats what."""

import synthetic

from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.papers.fast10.numbers import _figures, _leaders

CELLS = synthetic.cells(["webserver"], ["ext2", "ext3", "xfs"])


def leader(unsteady, **frame):
    trials = synthetic.trials_frame(CELLS, **frame)
    trials.loc[trials["file_system"].isin(unsteady), "steady"] = "no steady state"
    cells = cells_table(trials, synthetic.BOUNDS)
    effects = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    (row,) = _leaders(cells, effects)
    return row


def test_what_is_slower_beyond_doubt_is_not_named_beside_the_leader():
    speed = {"webserver-ext2-default": 3.0}
    assert leader([], speed=speed, scatter=0.004)[1:4:2] == ["ext2", "none"]


def test_what_has_no_steady_state_neither_leads_nor_lags():
    """Rule 24: its mean is none, so that nothing is known of it beside others."""
    speed = {"webserver-ext2-default": 3.0}
    _, first, rate, level, _ = leader(["ext2"], speed=speed, scatter=0.004)
    assert first != "ext2" and "ext2 (no steady state)" in level.split(", ")
    assert "[" in rate
    assert leader(["ext2", "ext3", "xfs"])[1:3] == ["none", "no steady state"]


def test_each_figure_of_work_per_joule_bears_the_mark_where_it_repeats_throughput():
    """No b-figure was second evidence where power is modelled, and none said so."""
    captions = {shown["file"]: shown["caption"] for shown in _figures("modelled", "‡", "ext4")}
    marked = {name for name, caption in captions.items() if "‡" in caption}
    assert marked == {f"fig{number}b.svg" for number in range(3, 7)}
    assert not any("‡" in shown["caption"] for shown in _figures("wall", "", "ext3"))


def test_a_caption_says_where_ratios_are_not_to_the_baseline_of_the_report():
    """Figures 3 to 6 were relative to XFS, all other comparisons to ext4, and nothing said so."""
    said = {}
    for baseline in ("ext4", "ext3"):
        said[baseline] = {of["file"]: of["caption"] for of in _figures("wall", "", baseline)}
    assert "not to ext4, the baseline of the study" in said["ext4"]["fig3a.svg"]
    assert "baseline" not in said["ext3"]["fig3a.svg"]
