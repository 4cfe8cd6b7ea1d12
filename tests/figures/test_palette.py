"""The palette of all figures, as people with a colour vision deficiency see it."""

import itertools

import numpy as np
import pytest

from fsgreen.figures import style

# Of linear RGB, at full severity: Machado, Oliveira & Fernandes 2009, table 1.
SIGHT = {
    "usual": np.eye(3),
    "no red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue cones": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)
LEAST = 11.0
"""Of CIE76: above ten, two colours are told apart at a glance."""


def linear(colour):
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    ratio = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours, sight):
    seen = [lab(SIGHT[sight] @ linear(colour)) for colour in colours]
    return min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2))


@pytest.mark.parametrize("sight", SIGHT)
def test_file_systems_are_told_apart_by_all_eyes(sight):
    assert nearest([*style.COLOUR.values(), style.GREY], sight) > LEAST


def test_the_test_would_notice_red_and_green():
    assert (
        nearest(["#cc4400", "#887700"], "no red cones")
        < LEAST
        < nearest(["#cc4400", "#887700"], "usual")
    )


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_bars_are_seen_on_a_light_and_on_a_dark_page(page):
    """Each has an outline in the colour of the text beside it."""
    background = lab(linear(page))
    for colour in style.COLOUR.values():
        assert np.linalg.norm(lab(linear(colour)) - background) > 3 * LEAST
