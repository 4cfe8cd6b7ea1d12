"""What an audit of the shipped campaigns found and no judge had said, as data for each judge."""

from dataclasses import replace

import pandas as pd
import sound_campaign
from sound_campaign import answer, edited

from fsgreen import rules
from fsgreen.rules.reporting import generated_numbers
from fsgreen.rules.trust import OF_REPORT


def by_clock(sound, *order):
    """The evidence as if its blocks had been measured in this order, block 2 first of 2, 1."""
    place = {block: at for at, block in enumerate(order)}
    trials = sound.trials[sound.trials["block"].isin(order)]
    started_s = 1e4 * trials["block"].map(place) + 30.0 * trials["order"]
    records = [
        edited(
            record,
            clock={
                "monotonic_s": 1e4 * place[record.block] + 30.0 * record.order,
                "unix_s": 1.8e9 + 1e4 * place[record.block] + 30.0 * record.order,
            },
        )
        for record in sound.records
        if record.block in place
    ]
    return replace(sound, trials=trials.assign(started_s=started_s), records=records)


def test_no_remedy_recommends_to_discard_after_a_look():
    """Rule 3 once said that a block is best measured again as a whole."""
    assert "stays" in rules.rule(3).remedy
    for rule in rules.rules().values():
        foreign_or_altered = rule.number in (1, 22)
        assert "out of data/raw" not in rule.remedy or foreign_or_altered


def test_a_block_that_was_measured_last_without_its_first_try_is_found(sound):
    """Rules 32 and 48: blocks 2, 3, 4, 5 and then 1, and nothing of a first block 1."""
    late = by_clock(sound, 2, 3, 4, 5, 1)
    for number in (32, 48):
        found = answer(number, late)
        assert found.state == "fired"
        assert "measured after a later block" in found.found
        assert "b01-002-webserver-xfs-default" in found.found


def test_a_block_whose_first_try_is_kept_is_not_lost(sound):
    late = by_clock(sound, 2, 3, 4, 5, 1)
    kept = replace(late, discarded=[record for record in late.records if record.block == 1])
    assert answer(32, kept).state == "quiet"
    assert answer(48, kept).state == "unknown", "nobody looked at how comparisons end with it"


def test_a_drift_is_seen_by_the_clock_and_not_by_numbers_of_blocks(sound):
    """Rule 25: by number the last block is the first, and tau is nothing."""
    late = by_clock(sound, 2, 3, 4, 5, 1)
    rising = late.trials["throughput_ops_s"] * (1 + 0.1 * (late.trials["started_s"] // 1e4))
    found = answer(25, replace(late, trials=late.trials.assign(throughput_ops_s=rising)))
    assert found.state == "fired"
    assert "tau +1.00" in found.found


def test_five_blocks_that_rise_but_for_one_are_not_called_still(sound):
    """Rule 25: tau of 0.8 is no evidence in five blocks, and neither is it of nothing."""
    clock = by_clock(sound, 1, 2, 3, 4, 5)
    factors = clock.trials["block"].map({1: 1.0, 2: 1.04, 3: 1.03, 4: 1.09, 5: 1.13})
    moved = clock.trials["throughput_ops_s"] * factors
    found = answer(25, replace(clock, trials=clock.trials.assign(throughput_ops_s=moved)))
    assert found.state == "unknown"
    assert "cannot tell from chance" in found.found


def test_trials_too_short_for_a_late_change_are_not_called_settled(sound):
    """Rule 24: it once took thirteen seconds, and trials lasted nine."""
    found = answer(24, replace(sound, trials=sound.trials.assign(duration_s=8.0)))
    assert found.state == "unknown"
    assert "9 s" in found.found


def test_a_cold_cache_that_memory_answered_from_is_not_called_cold(sound):
    """Rule 7: it looked before the warm-up only."""
    found = answer(7, replace(sound, trials=sound.trials.assign(device_read_b=0.0)))
    assert found.state == "fired"
    assert "30 of 30 cold trials" in found.found


def test_a_workload_below_the_bounds_may_be_that_of_memory_all_the_same(sound):
    """Rule 42: oltp moves few bytes, so that no bound is ever passed."""
    trials = sound.trials.assign(device_read_b=0.0, bandwidth_b_s=1e3)
    found = answer(42, replace(sound, trials=trials))
    assert found.state == "fired"
    assert "none is above these" in found.found
    uncounted = replace(sound, trials=sound.trials.assign(device_read_b=float("nan")))
    assert answer(42, uncounted).state == "unknown"


def test_a_caution_of_a_claim_that_names_a_number_is_typed():
    """Rule 43: it spoke of a reader that no run had."""
    report = sound_campaign.make_report()
    for text in ("nothing runs but reader 33", "each of eight readers"):
        caution = pd.Series([text, None])
        found = generated_numbers(replace(report, claims=report.claims.assign(caution=caution)))
        assert found.state == "fired"
        assert text in found.found
    plain = report.claims.assign(caution=["how one disk orders is assumed (rule 40)", None])
    assert generated_numbers(replace(report, claims=plain)).state == "quiet"


def test_two_clocks_of_one_model_that_differ_are_its_error():
    """Rule 49: the last over the first reader was 2 in real and 8 in virtual time, unmarked."""
    report = sound_campaign.make_report()
    [part] = report.parts.to_dict("records")
    clocks = pd.DataFrame(
        [
            {
                **part,
                "part": "last over first (real time)",
                "ours_low_x": None,
                "ours_high_x": None,
            },
            {**part, "part": "last over first (virtual time)", "ours_x": 8.0}
            | {"ours_low_x": 7.9, "ours_high_x": 8.1},
        ]
    )
    found = OF_REPORT[49](replace(report, parts=clocks, others=None))
    assert found.state == "fired"
    assert "1 part in real and in virtual time of one model differ by 281 %" in found.found
    near = clocks.assign(ours_x=[2.1, 2.12], ours_low_x=[None, 2.0], ours_high_x=[None, 2.2])
    assert OF_REPORT[49](replace(report, parts=near, others=None)).state == "quiet"
