"""Power over time of a cell: which trial stands for it, and that none is lost."""

import pandas as pd
import pytest

from fsgreen import figures


def trials_of(*means_w):
    """Trials of three bins that lie around these means, in this order."""
    return pd.concat(
        pd.DataFrame(
            {
                "trial": f"t{nth}",
                "time_s": [0.1, 0.2, 0.3],
                "power_w": [mean_w - 1, mean_w, mean_w + 1],
            }
        )
        for nth, mean_w in enumerate(means_w)
    )


@pytest.mark.parametrize(
    ("means_w", "middle"), [([5.0, 3.0, 9.0], "t0"), ([5.0, 3.0, 9.0, 4.0], "t3"), ([2.0], "t0")]
)
def test_the_trial_in_the_middle_is_one_that_was_measured(means_w, middle):
    """A mean over trials has none of the swings that power over time is drawn for."""
    assert {*figures.middle_trial(trials_of(*means_w))["trial"]} == {middle}


def test_every_trial_is_drawn_and_one_of_them_stands_out():
    axes = figures.new(1).subplots()
    figures.power_steps(axes, trials_of(5.0, 3.0, 9.0), figures.look_of("ext2"))
    steps = [patch.get_data() for patch in axes.patches]
    assert [step.values.tolist() for step in steps] == [[4, 5, 6], [2, 3, 4], [8, 9, 10]]
    assert all(step.edges.tolist() == [0, 0.1, 0.2, 0.3] for step in steps)
    assert [patch.get_alpha() == 1 for patch in axes.patches] == [True, False, False]
