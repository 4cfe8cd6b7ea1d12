"""Figures: the same bytes each time, colours that belong to file systems."""

import matplotlib
import pandas as pd
import pytest

from fsgreen import figures
from fsgreen.figures import style


def draw():
    curve = pd.DataFrame(
        {"queue_depth": [1, 2, 1, 2], "pass": [0, 0, 1, 1], "throughput_ops_s": [5, 9, 6, 8.0]}
    )
    return figures.queue_curve(curve, "measured")


def test_same_data_same_bytes(tmp_path):
    """A date or random id in a file would change version control on every run."""
    one = figures.save(draw(), tmp_path / "a", "figure")
    two = figures.save(draw(), tmp_path / "b", "figure")
    assert [file.suffix for file in one] == [".svg", ".png"]
    for first, second in zip(one, two, strict=True):
        assert first.read_bytes() == second.read_bytes()
    text = one[0].read_text()
    assert "<text" not in text
    assert "dc:date" not in text


def test_style_of_the_user_does_not_leak_in(tmp_path):
    """A notebook's style sheet must not change a figure of the paper."""
    before = figures.save(draw(), tmp_path / "a", "figure")[0].read_bytes()
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False}):
        assert figures.save(draw(), tmp_path / "b", "figure")[0].read_bytes() == before


def test_every_file_system_has_its_look():
    """One colour, hatch, marker and name each, of which no two share any."""
    for looks in zip(*style.LOOKS.values(), strict=True):
        assert len(set(looks)) == len(style.LOOKS)


def test_nothing_to_show_is_said():
    """An empty curve is a sentence, not an empty frame."""
    figure = figures.offset_curve(pd.DataFrame(), "measured")
    assert "no curve" in figure.axes[0].texts[0].get_text()


def test_a_simulated_disk_stands_above_all_that_it_did():
    """A reader would take a model's speed for a machine's."""
    label = "simulated disk: Ultrastar"
    assert figures.labelled(draw(), label).get_suptitle() == label
    assert figures.labelled(draw(), None).get_suptitle() == ""


def test_a_figure_of_a_simulated_disk_keeps_its_title():
    """Without it nobody would know which workload it is of."""
    figure = draw()
    figure.suptitle("varmail: relative to Ext3 default", x=0.01, ha="left")
    label = "in a virtual machine; simulated disk: Maxtor ATLAS15K_18WLS (Atlas 15K)"
    shown = figures.labelled(figure, label)
    assert shown.get_suptitle() == f"varmail: relative to Ext3 default\n({label})"
    shown.draw_without_rendering()
    (title,) = [text for text in shown.texts if text.get_text() == shown.get_suptitle()]
    box = title.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= shown.bbox.x1, "its begin and its end were cut off"


def test_seaborn_draws_every_file_system_by_colour_and_marker():
    """One outside a fixed list of colours would be drawn transparent: an empty figure."""
    told = figures.semantics(["overlay", "xfs", "ext4", "xfs"])
    assert told["hue_order"] == told["style_order"] == ["ext4", "xfs", "overlay"]
    for name in told["hue_order"]:
        look = figures.look_of(name)
        assert (told["palette"][name], told["markers"][name]) == (look.colour, look.marker)


@figures.styled
def marked(mark):
    """Axes whose data fill them, with a title and a mark."""
    figure = figures.new(2)
    axes = figure.subplots()
    axes.plot([0, 2e6], [0, 2e6])
    axes.set_title("operations per joule")
    mark(axes)
    figure.draw_without_rendering()
    return axes


@pytest.mark.parametrize(
    "mark", [lambda axes: figures.modelled(axes, "modelled"), figures.simulated]
)
def test_what_marks_axes_covers_neither_data_nor_title(mark):
    """It stood on the bars of the best cells."""
    axes = marked(mark)
    box = axes.texts[0].get_window_extent()
    assert box.y0 > axes.title.get_window_extent().y1 > axes.get_window_extent().y1
    assert box.x1 <= axes.figure.bbox.x1


def test_millions_are_written_out_on_an_axis():
    """A lone "1e6" beside it is easily overlooked."""
    axes = marked(figures.simulated)
    assert axes.xaxis.get_offset_text().get_text() == ""
    assert "2000000" in [label.get_text() for label in axes.get_xticklabels()]


def test_small_print_promises_no_intervals_that_are_not_drawn():
    nothing = float("nan")
    assert figures.intervals_of([nothing, 1.0], [2, 5]) == "95 % intervals"
    assert figures.intervals_of([nothing, nothing], [1, 2]) == "no interval: 2 blocks"
    assert figures.intervals_of([nothing], [1.0], "trial") == "no interval: 1 trial"
    assert figures.intervals_of([nothing], [7]) == "no interval", "seven are not too few"
    assert figures.intervals_of([], []) == "no interval", "nothing is not too few either"


def test_small_print_does_not_leave_the_figure():
    """What the dagger means was cut off."""
    figure = marked(figures.simulated).figure
    figures.note(figure, "filled: a clear difference (Holm); " * 8)
    figure.draw_without_rendering()
    (small_print,) = figure.texts
    box = small_print.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert small_print.get_text().count("Holm") == 8
