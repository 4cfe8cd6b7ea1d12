"""Figures of confounds: zones, strokes of readers, sizes beside effects, and the mark of a flag."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fsgreen import figures

NOTHING = pd.DataFrame()
BASIS = "measured on the bare testbed"


def texts(figure):
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    return [*inside, *(text.get_text() for text in figure.texts), figure.get_supxlabel()]


def zoned(speeds):
    offsets = np.arange(48) * 10**9
    rows = np.repeat(speeds, 48 // len(speeds))
    noise = np.random.default_rng(1).normal(1, 0.01, (3, 48))
    return pd.DataFrame(
        {
            "offset_b": np.tile(offsets, 3),
            "pass": np.repeat(range(3), 48),
            "bandwidth_b_s": (rows * noise).ravel(),
        }
    )


def labels(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_zones_are_drawn_where_there_are_some():
    assert "3 zones, by changepoints" in labels(figures.offset_curve(zoned([5e7, 4e7, 3e7]), BASIS))
    assert "3 zones" not in " ".join(labels(figures.offset_curve(zoned([5e7]), BASIS)))


def test_simulated_curves_say_so():
    """A curve of a model that looks measured is a wrong result."""
    for basis in ("simulated in virtual time", "measured on the bare testbed"):
        assert basis in figures.offset_curve(zoned([5e7]), basis).get_supxlabel()


def test_the_spread_of_each_scheduler_stands_beside_its_readers():
    times = {"fair": [2.0, 2.0], "unfair": [1.0, 6.0]}
    runs = pd.DataFrame(
        [(name, 0, reader, 1, times[name][reader]) for name in times for reader in (0, 1)],
        columns=["scheduler", "pass", "reader", "read_b", "completion_s"],
    )
    shown = texts(figures.completion_times(runs, BASIS))
    assert {"last over first: 1.0", "last over first: 6.0"} <= set(shown)


def test_sizes_stand_beside_effects():
    table = pd.DataFrame(
        {
            "confound": ["place", "queue", "cache"],
            "size_percent": [43.0, np.nan, 2.0],
            "size_low_percent": [40.0, np.nan, -1.0],
            "size_high_percent": [46.0, np.nan, 5.0],
            "verdict": ["would have fooled you", "not measured here", "could be chance"],
        }
    )
    figure = figures.sizes(table, [11.0, 0.0])
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cache", "place"]
    assert figure.get_supxlabel().startswith("95 % intervals, pass by pass")
    once = table.assign(size_low_percent=np.nan, size_high_percent=np.nan)
    assert figures.sizes(once, [11.0]).get_supxlabel() == "no interval: one pass"


@pytest.mark.parametrize(
    "figure",
    [
        lambda: figures.offset_curve(NOTHING, BASIS),
        lambda: figures.queue_curve(NOTHING, BASIS),
        lambda: figures.completion_times(NOTHING, BASIS),
        lambda: figures.level_dots(NOTHING, "cache", "bandwidth_b_s", BASIS),
    ],
)
def test_what_was_not_measured_is_said_in_its_place(figure):
    assert any("This testbed has no" in text for text in texts(figure()))


def test_a_flag_is_seen_and_none_leaves_no_trace():
    axes = Figure().add_subplot()
    figures.flag(axes, [])
    assert not axes.texts and not axes.lines
    figures.flag(axes, [(1.0, 2.0), (2.0, 1.0)])
    assert len(axes.texts) == 2
    assert "confounded" in [line.get_label() for line in axes.lines]


def test_a_figure_is_shown_in_a_notebook_as_its_bytes():
    """Without pyplot a notebook shows `<Figure size ...>` in place of the picture."""
    assert figures.png(figures.offset_curve(zoned([5e7]), BASIS)).startswith(b"\x89PNG")
