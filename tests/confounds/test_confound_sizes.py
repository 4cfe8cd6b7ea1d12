"""The size of confounds beside the effects that they could be mistaken for."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import confounds, paths, reduce
from fsgreen.confounds import KNOWN, PARTS, size_of
from fsgreen.errors import FsgreenError

CELLS = synthetic.cells(["webserver", "oltp"], ["ext2", "ext3", "xfs"])


def curve(by, value, values, passes=3, noise=0.01):
    return pd.DataFrame(
        [
            {by: place, "pass": number, value: level * (1 + noise * number)}
            for place, level in values.items()
            for number in range(passes)
        ]
    )


def facts(**levels):
    """What a campaign of two trials held."""
    held = dict.fromkeys(KNOWN, "alike") | levels
    return pd.DataFrame([held, held])


def table(held=None, frame=None, **parts):
    probes = {name: parts.get(name, pd.DataFrame()) for name in PARTS}
    trials = synthetic.trials_frame(CELLS, **(frame or {}))
    made = confounds.confounds_table(probes, trials, facts() if held is None else held)
    return made.set_index("confound")


def zoned(places=48, passes=3, noise=0.01, seed=1):
    """Three zones of a disk of 48 GB, in MB/s."""
    rng = np.random.default_rng(seed)
    speeds = np.repeat([53e6, 46e6, 37e6], places // 3)
    return pd.DataFrame(
        {
            "offset_b": np.tile(np.arange(places) * 10**9, passes),
            "pass": np.repeat(np.arange(passes), places),
            "bandwidth_b_s": np.tile(speeds, passes) * rng.normal(1, noise, places * passes),
        }
    )


def test_a_zoned_disk_would_have_fooled_you():
    """Outer zones 53, inner 37 MB/s: 43 % by place alone, more than Ext3 over Ext2."""
    row = table(offset=zoned()).loc["place on the device"]
    assert row["size_percent"] == pytest.approx(43.2, abs=2)
    assert row["size_low_percent"] < 43.2 < row["size_high_percent"]
    assert row["verdict"] == "would have fooled you"
    assert row["larger_than_count"] == 4
    assert row["comparisons_count"] == 6


def test_the_edges_of_zones_are_found_with_their_uncertainty():
    """An edge is known to half the way between two places, and lies there."""
    found = confounds.zones(zoned())
    assert found["places_count"].tolist() == [16, 16, 16]
    for begin_b, error_b, truth_b in zip(
        found["begin_b"][1:], found["edge_error_b"][1:], (15.5e9, 31.5e9), strict=True
    ):
        assert abs(begin_b - truth_b) <= error_b == 0.5e9
    assert found["bandwidth_b_s"].tolist() == pytest.approx([53e6, 46e6, 37e6], rel=0.02)
    assert confounds.zones(pd.DataFrame()).empty


@given(st.integers(0, 2**32 - 1))
def test_an_even_device_has_few_zones(seed):
    """Noise that is cut into zones would make a disk in memory look like one with platters."""
    rng = np.random.default_rng(seed)
    even = zoned(seed=seed).assign(bandwidth_b_s=rng.normal(1e9, 3e7, 144))
    found = confounds.zones(even)
    assert found["bandwidth_b_s"].max() / found["bandwidth_b_s"].min() < 1.1


def test_memory_has_no_zones():
    """A curve within its own scatter is not called a confound."""
    flat = curve("offset_b", "bandwidth_b_s", {0: 1e9, 10**9: 1.001e9}, noise=0.05)
    assert table(offset=flat).loc["place on the device", "verdict"] == "could be chance"


def test_what_was_not_probed_is_said():
    """Campaigns of before there was a probe of it: the row stays, without a number."""
    rows = table()
    for name in KNOWN:
        assert rows.loc[name, "verdict"] == "not measured here"
        assert math.isnan(rows.loc[name, "size_percent"])


def test_the_spread_of_readers_is_hidden_in_the_total():
    """Two schedulers of one throughput: one serves all alike, the other one after another."""
    fair = {"fair": [7.9, 7.9, 8.0, 8.0], "unfair": [2.0, 4.0, 6.0, 8.0]}
    runs = pd.DataFrame(
        [
            (name, number, reader, 1 << 20, time_s * (1 + 0.001 * number))
            for name, times in fair.items()
            for number in range(4)
            for reader, time_s in enumerate(times)
        ],
        columns=["scheduler", "pass", "reader", "read_b", "completion_s"],
    )
    rows = table(scheduler=runs)
    assert rows.loc["order of requests", "verdict"] == "could be chance"
    assert rows.loc["sharing among readers", "size_percent"] == pytest.approx(300, abs=2)
    assert rows.loc["sharing among readers", "between"].startswith("unfair")


def test_the_worst_pattern_and_the_worst_action_count():
    """Read-ahead that helps one pattern and hurts another must not average out."""
    parts = {
        ("sequential", "default"): 40e6,
        ("sequential", "off"): 20e6,
        ("stride", "default"): 1e6,
        ("stride", "off"): 5e6,
    }
    part = pd.DataFrame(
        [
            {
                "pattern": pattern,
                "read_ahead": state,
                "pass": n,
                "bandwidth_b_s": speed * (1 + n / 99),
            }
            for (pattern, state), speed in parts.items()
            for n in range(4)
        ]
    )
    size = size_of(KNOWN["read-ahead"], part)
    assert size.percent == pytest.approx(400)
    assert size.between == "stride: default and off"


def test_one_pass_has_a_size_and_no_interval():
    once = curve("queue_depth", "throughput_ops_s", {1: 70.0, 32: 140.0}, passes=1)
    size = size_of(KNOWN["requests in flight"], once)
    assert size.percent == pytest.approx(100)
    assert math.isnan(size.low_percent)
    assert size.most_percent == size.percent


def test_the_control_is_what_the_records_say():
    """A text that promises control which nobody recorded is worse than none."""
    assert "alike" in table().loc["read-ahead", "control"]
    nothing = table(held=facts(**{"read-ahead": None})).loc["read-ahead", "control"]
    assert nothing == "nothing: not known in 2 of 2 trials"


def test_effects_are_differences_of_defaults():
    """Two workloads with three file systems each: six differences, the first 11 %."""
    effects = confounds.default_effects_percent(synthetic.trials_frame(CELLS, scatter=0))
    assert len(effects) == 6
    assert effects[0] == pytest.approx(11.1, abs=0.1)


def test_effects_do_not_mix_states():
    """What warm caches make would pass for what file systems make."""
    cold = synthetic.trials_frame(CELLS, scatter=0)
    warm = cold.assign(cache="warm", work_ops=10 * cold["work_ops"])[cold["file_system"] != "xfs"]
    both = confounds.default_effects_percent(pd.concat([cold, warm]))
    alone = confounds.default_effects_percent(cold)
    assert sorted(both) == pytest.approx(sorted([*alone, alone[0], alone[3]]))


def test_written_from_raw(tmp_path, monkeypatch):
    """confounds.json of the campaign becomes confounds.csv; without it the error says what next."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    raw = synthetic.write_raw("small", synthetic.make_plan())
    reduce.write("small")
    (raw / "confounds.json").unlink()
    with pytest.raises(FsgreenError, match="no probe"):
        confounds.write("small")
    queue = curve("queue_depth", "throughput_ops_s", {1: 70.0, 32: 135.0})
    probes = {"offset": [], "queue": queue.to_dict("records")}
    (raw / "confounds.json").write_text(json.dumps(probes))
    confounds.write("small")
    read = pd.read_csv(paths.results("small") / "confounds.csv").set_index("confound")
    assert read.loc["requests in flight", "size_percent"] == pytest.approx(92.9, abs=0.1)


@pytest.mark.parametrize("text", ["", "[]", "3", "{", '"offset"', "null"])
def test_a_damaged_probe_is_an_error_with_a_remedy(text, tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    raw = synthetic.write_raw("small", synthetic.make_plan())
    (raw / "confounds.json").write_text(text)
    with pytest.raises(FsgreenError, match="no probe of the testbed"):
        confounds.read_probes("small")


def actions(reads, writes):
    """The curve by alignment, five passes of each: values at a page, and beside one."""
    rows = [
        (action, shift_b, number, value)
        for action, by_shift in (("read", reads), ("write", writes))
        for shift_b, values in by_shift.items()
        for number, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["action", "shift_b", "pass", "throughput_ops_s"])


def test_scatter_in_one_place_does_not_hide_a_confound_in_another():
    """Reads scatter by 30 %, misaligned writes are 20 % slower each time: the writes count."""
    scattered = {0: [70, 130, 90, 110, 100], 512: [100, 70, 131, 90, 140]}
    slower = {0: [100, 101, 102, 103, 104], 512: [80, 81, 82, 83, 84]}
    size = size_of(KNOWN["alignment"], actions(scattered, slower))
    assert not size.by_chance
    assert size.between.startswith("write")
    assert size.percent == pytest.approx(24, abs=1)


def test_one_chance_finding_of_two_is_not_told_from_chance():
    """At 5 % each, two tests find something in every tenth even disk."""
    alike = {0: [100, 101, 102, 103, 104], 512: [100.5, 101.5, 102.5, 103.5, 99]}
    barely = {0: [100, 104, 105, 106, 107], 512: [99, 101, 102, 103, 103.5]}
    size = size_of(KNOWN["alignment"], actions(alike, barely))
    assert size.by_chance


def test_too_few_passes_to_tell_a_difference_do_not_acquit():
    """Two passes at 70 and 140: no test can reject, which is no proof that all is alike."""
    part = curve("queue_depth", "throughput_ops_s", {1: 70.0, 32: 140.0}, passes=2)
    size = size_of(KNOWN["requests in flight"], part)
    assert math.isnan(size.difference_p)
    assert not size.by_chance


def test_time_of_measurement_is_told_within_each_cell():
    """Cells that differ a hundredfold are no drift from block to block."""
    trials = synthetic.trials_frame(CELLS, scatter=0.01)
    fast = trials["workload"] == "oltp"
    trials = pd.concat([trials.assign(readers=1), trials[fast].assign(readers=8)])
    trials.loc[trials["readers"] == 8, "throughput_ops_s"] *= 100
    probes = {name: pd.DataFrame() for name in PARTS}
    made = confounds.confounds_table(probes, trials, facts()).set_index("confound")
    assert made.loc["time of measurement", "scatter_percent"] < 20


def test_a_confound_must_be_larger_with_its_interval():
    """43 % by one estimate, anything by its interval: it may have fooled you."""
    wide = zoned(noise=0.01)
    rows = table(offset=wide)
    assert rows.loc["place on the device", "verdict"] == "would have fooled you"
    unsure = curve("queue_depth", "throughput_ops_s", {1: 70.0}, passes=4, noise=0)
    other = unsure.assign(queue_depth=32, throughput_ops_s=[71.0, 140.0, 72.0, 290.0])
    rows = table(queue=pd.concat([unsure, other]))
    assert rows.loc["requests in flight", "size_low_percent"] < 5
    assert rows.loc["requests in flight", "verdict"] == "may have fooled you"


def test_levels_without_any_variance_have_a_size():
    """Virtual time gives the same bits in each pass."""
    part = curve("queue_depth", "throughput_ops_s", {1: 70.0, 32: 140.0}, noise=0)
    size = size_of(KNOWN["requests in flight"], part)
    assert (size.low_percent, size.percent, size.high_percent) == pytest.approx((100,) * 3)
    assert not size.by_chance
    same = curve("queue_depth", "throughput_ops_s", {1: 70.0, 32: 70.0}, noise=0)
    assert size_of(KNOWN["requests in flight"], same).by_chance
