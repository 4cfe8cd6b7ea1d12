"""Rule 50: work per joule that repeats work per second is marked, and counts once."""

import numpy as np
import pandas as pd
import pytest

from fsgreen.generic.figures import effects_text
from fsgreen.rules import repeated


def effects(alike=True, boundary="modelled", pairs=6):
    """Comparisons of options in both metrics; the second says the same, or something else."""
    rng = np.random.default_rng(50)
    first = np.exp(rng.normal(0, 0.3, pairs))
    second = first**0.99 if alike else np.exp(rng.normal(0, 0.3, pairs))
    rows = [
        {
            **{"kind": "option", "workload": "oltp", "file_system": "ext4", "option": f"o{nth}"},
            **{"metric": metric, "boundary": boundary, "ratio_x": ratio, "n": 5, "gate": "passed"},
            **{"outcome": "different", "change_percent": 100 * (ratio - 1)},
            **{"change_low_percent": np.nan, "change_high_percent": np.nan},
            **{"baseline_file_system": "ext4", "baseline_option": "default"},
        }
        for metric, ratios in zip(repeated.BOTH, (first, second), strict=True)
        for nth, ratio in enumerate(ratios)
    ]
    return pd.DataFrame(rows)


def test_comparisons_that_repeat_others_bear_a_mark_and_are_not_counted():
    """Half of 412 comparisons were no second evidence, and stood there as if they were."""
    of_model = effects()
    assert len(repeated.once(of_model)) == len(of_model) / 2
    assert set(repeated.once(of_model)["metric"]) == {"throughput"}
    marked = effects_text(of_model)["metric"].value_counts().to_dict()
    assert marked == {"throughput": 6, f"efficiency {repeated.MARK}": 6}
    assert repeated.numbers(of_model) == {"mark": f" {repeated.MARK}", "note": repeated.NOTE}


@pytest.mark.parametrize(
    "other",
    [effects(boundary="wall"), effects(alike=False), effects(pairs=2), effects().iloc[:0]],
    ids=["measured", "unlike", "two", "none"],
)
def test_a_meter_or_another_answer_is_evidence_of_its_own(other):
    """Two comparisons cannot tell, and nothing marks what was measured."""
    assert len(repeated.once(other)) == len(other)
    assert repeated.numbers(other) == {"mark": "", "note": ""}
    assert repeated.footnote(other) == ""
