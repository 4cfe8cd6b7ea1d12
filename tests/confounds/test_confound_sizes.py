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
    assert table(offset=flat).loc["place on the device", "verdict"] == "not told from chance"


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
    assert rows.loc["order of requests", "verdict"] == "not told from chance"
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
