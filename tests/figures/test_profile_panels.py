"""The figure of latency profiles: what each panel shows, and for whom."""

import pytest
import synthetic
from latencies import cell, peak_at

from fsgreen import figures
from fsgreen.analysis.latency_profiles import profile_effects
from fsgreen.figures.style import COLOUR


def drawn(one, other):
    return figures.latency_profiles(one, other, profile_effects(one, other, synthetic.BOUNDS))


def profiles(file_system, option="default", slower=0):
    """Four operations in five blocks that scatter a little; `open` may be slower."""
    shapes = {"close": 9, "delete": 15, "open": 11 + slower, "read": 12}
    blocks = {
        name: [peak_at(bucket + 0.1 * (block % 3)) for block in range(5)]
        for name, bucket in shapes.items()
    }
    return cell(blocks, file_system, option)


def panels(figure):
    return [axes for axes in figure.axes if axes.get_title(loc="left")]


def test_the_operation_that_differs_most_has_the_first_panel():
    """Its distance is in it, and bold only where it is more than noise."""
    figure = drawn(profiles("ext2", slower=2), profiles("xfs"))
    titles = [axes.get_title(loc="left") for axes in panels(figure)]
    assert titles == ["open", "close", "delete", "read"]
    texts = [axes.texts[0] for axes in panels(figure)]
    assert texts[0].get_text().startswith("EMD 2.0")
    assert [text.get_fontweight() for text in texts] == ["bold", "normal", "normal", "normal"]


def test_file_systems_have_their_colours_and_cells_their_lines():
    """Two options of one file system have one colour: the line tells them apart, also in print."""
    for one, other, colours in (
        (profiles("ext2"), profiles("xfs"), [COLOUR["ext2"], COLOUR["xfs"]]),
        (profiles("ext3"), profiles("ext3", "dtlg"), [COLOUR["ext3"]] * 2),
    ):
        (legend,) = drawn(one, other).legends
        lines = legend.get_lines()
        assert [line.get_color() for line in lines] == colours
        assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert [text.get_text() for text in legend.get_texts()] == ["Ext3", "Ext3 dtlg"]


def test_latency_has_ticks_that_people_read():
    """Powers of two are for machines."""
    axes = panels(drawn(profiles("ext2"), profiles("xfs")))[-1]
    low, high = axes.get_xlim()
    ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    assert {t.get_text() for ns, t in ticks if low <= ns <= high} == {"1 µs", "1 ms"}


def test_all_operations_of_a_panel_are_a_hundred_per_cent():
    """Cells of different speed are compared by shares."""
    slow = profiles("ext2").assign(work_ops=lambda table: table["work_ops"] // 7)
    heights = panels(drawn(slow, profiles("xfs")))[0].patches[0].get_data().values
    assert heights.sum() == pytest.approx(100, rel=0.01)


def test_what_has_no_distance_says_why():
    """An operation that one cell lacks, or lacks in a block, is drawn where there is some."""
    reads = {"read": [peak_at(12)] * 5}
    one = cell({**reads, "fsync": [peak_at(20)] * 5, "stat": [peak_at(9)] * 5})
    other = cell({**reads, "stat": [peak_at(9)] * 4}, "xfs")
    found = {axes.get_title(loc="left"): axes for axes in panels(drawn(one, other))}
    texts = {name: axes.texts[0].get_text() for name, axes in found.items()}
    assert next(iter(texts)) == "read"
    assert texts["fsync"] == "none in XFS"
    assert texts["stat"] == "not in every block"
    assert [len(axes.patches) for axes in found.values()] == [4, 2, 4]


def test_same_profiles_same_bytes(tmp_path):
    """A figure that changes by itself would change version control."""
    files = [
        figures.save(drawn(profiles("ext2"), profiles("xfs")), tmp_path / name, "figure")
        for name in "ab"
    ]
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_no_operations_is_said():
    """Cells that did no work are a sentence."""
    one, other = profiles("ext2"), profiles("xfs")
    none = profile_effects(one, other, synthetic.BOUNDS).iloc[:0]
    figure = figures.latency_profiles(one, other, none)
    assert "no operations" in figure.axes[0].texts[0].get_text()
