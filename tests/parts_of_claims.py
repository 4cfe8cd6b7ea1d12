"""Parts of claims as a campaign tells them."""

import math

import numpy as np


def part_of_a_campaign(log=0.15, error=0.05, **changes):
    """What a campaign says of one part: a ratio whose error is known exactly."""
    half = 1.959964 * error
    row = {
        "slug": "gain",
        "part": "xfs over ext3",
        "detail": "",
        "verdict": "reproduced",
        "basis": "measured",
        "kind": "measured",
        "published": "1.2x",
        "unit": "x",
        "side": "above",
        "band_low_x": 1.08,
        "band_high_x": 1.32,
        "ours_x": math.exp(log),
        "ours_low_x": math.exp(log - half),
        "ours_high_x": math.exp(log + half),
        "degrees_count": np.inf,
        "power_p": 0.5,
        "n": 5,
        "boundary": "",
        "testbed": "loop",
        "place": "loop, on disk",
        "profile": "lab",
    }
    row |= {"ours": f"{row['ours_x']:.3g}x"} | changes
    return row
