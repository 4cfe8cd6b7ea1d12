"""The static picture."""

import math

import matplotlib
import numpy as np
import pytest

from fsgreen.view import picture
from tests.view.sources import Told


def texts(figure):
    """All that can be read in a figure."""
    with matplotlib.rc_context({"figure.constrained_layout.use": True}):
        return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def told(**options):
    source = Told("system", "disk", **options)
    for nth in range(10):
        source.tell(1000.0 + nth, 214.0 + nth)
        source.tell(1000.0 + nth, 7.0, name="disk")
    source.phases_told = [("idle", 995.0, 1004.0), ("measure", 1004.0, math.inf)]
    source.time_s = 1010.0
    return source


@pytest.mark.parametrize("boundary", ["wall", "dc-rail", "cpu", "modelled"])
def test_the_boundary_stands_beside_each_meter(boundary):
    read = texts(picture.draw(told(boundary=boundary)))
    assert f"system ({boundary})" in read and f"disk ({boundary})" in read
    assert ("modelled power" in read) == (boundary == "modelled")


def test_axes_have_units_and_phases_have_names():
    source = told()
    source.rates = [(1005.0, 300.0), (1006.0, 310.0)]
    read = texts(picture.draw(source))
    assert {"power (W)", "work (ops/s)", "time since the first reading (s)"} <= set(read)
    assert {"idle", "measure"} <= {text.strip() for text in read}


def test_no_panel_of_work_where_nobody_told_of_any():
    assert "work (ops/s)" not in texts(picture.draw(told()))


def test_missing_readings_are_a_gap_and_flagged_ones_a_cross():
    source = Told()
    for nth in (0, 1, 2, 6, 7, 8):
        source.tell(1000.0 + nth, 214.0)
    source.tell(1004.0, math.nan, "cut")
    source.time_s = 1009.0
    figure = picture.draw(source)
    line, crosses = figure.axes[0].get_lines()
    assert np.isnan(line.get_ydata()).sum() == 1
    assert crosses.get_xdata() == pytest.approx([4.0], abs=0.01)
    assert any("cut" in text for text in texts(figure))


def test_a_source_without_readings_says_so():
    assert any("No meter has given a reading" in text for text in texts(picture.draw(Told())))


def test_it_is_a_png():
    assert picture.png(told()).startswith(b"\x89PNG\r\n")
