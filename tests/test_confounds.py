"""The size of confounds beside the effects that they could be mistaken for."""

import json
import math

import pandas as pd
import pytest
import synthetic

from fsgreen import confounds, paths, reduce
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


def table(offset=None, queue=None, **frame):
    none = pd.DataFrame()
    probes = {
        "offset": none if offset is None else offset,
        "queue": none if queue is None else queue,
    }
    return confounds.confounds_table(probes, synthetic.trials_frame(CELLS, **frame)).set_index(
        "confound"
    )


def test_a_zoned_disk_would_have_fooled_you():
    """Outer zones 53, inner 37 MB/s: 43 % by place alone, more than Ext3 over Ext2."""
    zones = curve("offset_b", "bandwidth_b_s", {0: 53e6, 10**9: 37e6})
    row = table(offset=zones).loc["place on the device"]
    assert row["size_percent"] == pytest.approx(43.2, abs=0.1)
    assert row["scatter_percent"] == pytest.approx(2)
    assert row["verdict"] == "would have fooled you"
    assert row["larger_than_count"] == 4
    assert row["comparisons_count"] == 6


def test_memory_has_no_zones():
    """A curve within its own scatter is not called a confound."""
    flat = curve("offset_b", "bandwidth_b_s", {0: 1e9, 10**9: 1.001e9}, noise=0.05)
    assert table(offset=flat).loc["place on the device", "verdict"] == "not told from chance"


def test_what_was_not_probed_is_said():
    """A directory testbed has no curves: the row stays, without a number."""
    row = table().loc["requests in flight"]
    assert row["verdict"] == "not measured here"
    assert math.isnan(row["size_percent"])


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
