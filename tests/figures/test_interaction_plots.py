"""The interaction plots: what was measured stands beside what was expected."""

import math

import pytest
import synthetic

from fsgreen import figures
from fsgreen.analysis.interactions import drawable, interactions_table
from fsgreen.design.cell import cells_of
from fsgreen.figures.interactions import interaction_panels


def pairs(options=("noatime", "isz1k"), fraction="full", speed=None, metric="throughput", blocks=5):
    levels = {
        "workload": ["webserver"],
        "file_system": ["xfs"],
        "factorial": {"options": list(options), "fraction": fraction},
    }
    plan = synthetic.make_plan(list(cells_of(levels)), blocks=blocks)
    by_label = {f"webserver-xfs-{name}": value for name, value in (speed or {}).items()}
    trials = synthetic.trials_frame(plan.cells, blocks=blocks, speed=by_label)
    (found,) = drawable(interactions_table(trials, plan), "webserver", metric).values()
    return found


BOTTLENECK = {"noatime": 2.49, "isz1k": 2.28, "noatime+isz1k": 2.55}


def panels(figure):
    return [axes for axes in figure.axes if axes.get_title(loc="left")]


def test_measured_and_expected_end_at_both():
    """Two good options that are no better together: the solid line ends far below the dashed."""
    (axes,) = panels(interaction_panels(pairs(speed=BOTTLENECK), "modelled"))
    expected, off, on = (line.get_ydata()[-1] for line in axes.get_lines()[:3])
    assert expected == pytest.approx(2.49 * 2.28, rel=0.05)
    assert on == pytest.approx(2.55, rel=0.05)
    assert off == pytest.approx(2.49, rel=0.05)
    (said,) = [text for text in axes.texts if "% from expected" in text.get_text()]
    assert said.get_fontweight() == "bold"


def test_lines_are_told_apart_without_colour():
    (axes,) = panels(interaction_panels(pairs(speed=BOTTLENECK), "modelled"))
    looks = [(line.get_linestyle(), line.get_markerfacecolor()) for line in axes.get_lines()[:3]]
    assert len(set(looks)) == 3


def test_the_clearest_interaction_has_the_first_panel_and_aliases_are_named():
    speed = {"blk2k+agcnt8": 1.3, "noatime+blk2k+agcnt8+isz1k": 1.3}
    shown = pairs(("noatime", "blk2k", "agcnt8", "isz1k"), "IV", speed)
    found = panels(interaction_panels(shown, "wall"))
    assert len(found) == 6
    titles = [axes.get_title(loc="left") for axes in found[:2]]
    assert set(titles) == {"blk2k and agcnt8", "noatime and isz1k"}
    texts = [text.get_text() for text in found[titles.index("blk2k and agcnt8")].texts]
    assert any("or noatime and isz1k" in text for text in texts)


def test_many_pairs_are_cut_and_the_figure_says_so():
    names = [f"o{n}" for n in range(6)]
    figure = interaction_panels(pairs(names, "IV"), "wall")
    assert len(panels(figure)) == 12
    assert "the 12 clearest of 15 pairs" in " ".join(figure.get_supxlabel().split())


def test_modelled_power_is_labelled_where_it_counts():
    for metric, boundary, label in (
        ("efficiency", "modelled", "change of efficiency by modelled power (%)"),
        ("efficiency", "wall", "change of efficiency (%)"),
        ("throughput", "modelled", "change of throughput (%)"),
    ):
        figure = interaction_panels(pairs(speed=BOTTLENECK, metric=metric), boundary)
        assert figure.get_supylabel() == label


def test_each_panel_names_its_own_options():
    found = panels(interaction_panels(pairs(("noatime", "blk2k", "agcnt8")), "wall"))
    for axes in found:
        first, second = axes.get_title(loc="left").split(" and ")
        assert [label.get_text() for label in axes.get_xticklabels()] == [
            f"{first} off",
            f"{first} on",
        ]
        assert second in [text.get_text() for text in axes.texts]


def test_ticks_are_round_changes_in_per_cent():
    (axes,) = panels(interaction_panels(pairs(speed=BOTTLENECK), "wall"))
    low, high = axes.get_ylim()
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    assert 1.0 in ticks
    assert 3 <= len(ticks) <= 7
    labels = [axes.yaxis.get_major_formatter()(tick, 0) for tick in ticks]
    assert labels[ticks.index(1.0)] == "0"
    assert all(label == "0" or label[0] in "+-" for label in labels)
    assert all(math.isclose(100 * (t - 1), float(x)) for t, x in zip(ticks, labels, strict=True))


def test_same_data_same_bytes_of_an_interaction_plot(tmp_path):
    files = [
        figures.save(interaction_panels(pairs(speed=BOTTLENECK), "wall"), tmp_path / name, "figure")
        for name in "ab"
    ]
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_no_design_is_a_sentence():
    figure = interaction_panels(pairs().iloc[:0], "wall")
    assert "No factorial design" in figure.axes[0].texts[0].get_text()


def test_one_block_promises_no_interval():
    """The small print named bars of 95 %, and none is drawn of it."""
    for blocks, said in ((1, "no interval: 1 block"), (5, "95 % intervals, blocks: 5; bold")):
        figure = interaction_panels(pairs(speed=BOTTLENECK, blocks=blocks), "modelled")
        assert f"log scale; {said}" in " ".join(figure.get_supxlabel().split())
