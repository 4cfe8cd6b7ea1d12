"""Watching a trial that another process measures."""

import base64
import json
import math
import os
import time
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture
from fsgreen.trial import TrialWriter
from fsgreen.view import TrialFolder, newest_trial
from tests.emulated import wattsup
from tests.patience import wait_for
from tests.traces import INFO

HEAD = json.dumps({"meters": {"system": asdict(INFO)}}) + "\n"


def record(time_s, power_w):
    """A line of a raw trace: one record of a Watts Up?, as it came."""
    w, ma = round(power_w * 10), round(power_w / 120 * 1000)
    extremes = f"{w},1200,{ma},{w},1200,{ma}"
    text = f"#d,-,18,{w},1200,{ma},0,0,0,0,{extremes},100,100,3,600,{w};"
    return json.dumps({"t": time_s, "m": "system", "b": f"{text}\r\n"}) + "\n"


HEADER = json.dumps(
    {
        "t": 0.5,
        "m": "system",
        "b": "#h,-,18,W,V,A,WH,Cost,WH/Mo,Cost/Mo,Wmax,Vmax,Amax,Wmin,Vmin,Amin,PF,DC,PC,Hz,VA;",
    }
)


@pytest.fixture
def writer(tmp_path):
    (tmp_path / "campaign").mkdir()
    writer = TrialWriter(tmp_path / "campaign", "b0-ext4")
    (writer.folder / "power.raw").write_text(f"{HEAD}{HEADER}\n")
    return writer


def grow(writer, text):
    with (writer.folder / "power.raw").open("a") as raw:
        raw.write(text)


def complete(writer, finish="keep"):
    ops = {"time_s": [2.0, 3.0], "duration_s": [1.0, 0.5], "work_ops": [300, 100]}
    writer.write_table("ops", pd.DataFrame(ops | {"read_b": [0, 0], "write_b": [0, 0]}))
    phases = [{"name": "measure", "start_s": 1.0, "end_s": 3.0}]
    return getattr(writer, finish)(synthetic.record(trial="b0-ext4", phases=phases))


def test_readings_appear_as_the_trace_grows(writer):
    trial = TrialFolder(writer.folder)
    assert trial.running()
    assert not len(trial.since("system", -math.inf))
    grow(writer, record(1.0, 214.0) + record(2.0, 215.0))
    assert trial.since("system", -math.inf).power_w.tolist() == [214.0, 215.0]
    grow(writer, record(3.0, 216.0))
    assert trial.since("system", 2.0).time_s.tolist() == [3.0]
    assert trial.since("system", 1.5).time_s.tolist() == [2.0, 3.0]


def test_a_line_that_is_half_written_waits_for_its_end(writer):
    trial = TrialFolder(writer.folder)
    line = record(1.0, 214.0)
    for cut in range(1, len(line)):
        grow(writer, line[cut - 1 : cut])
        assert not len(trial.since("system", -math.inf))
    grow(writer, line[-1])
    assert trial.since("system", -math.inf).power_w.tolist() == [214.0]


@pytest.mark.parametrize("finish", ["keep", "set_aside"])
def test_work_and_phases_come_with_the_record_though_the_folder_moves(writer, finish):
    trial = TrialFolder(writer.folder)
    grow(writer, record(1.0, 214.0) + record(4.0, 214.0))
    assert not trial.phases() and not trial.work(-math.inf).time_s.size
    complete(writer, finish)
    assert not trial.running()
    assert [phase.name for phase in trial.phases()] == ["measure"]
    assert trial.work(-math.inf).throughput_ops_s.tolist() == [300.0, 200.0]
    assert trial.work(2.0).time_s.tolist() == [3.0]
    assert trial.now_s() == 4.0, "the clock stands still at the end"


def test_a_whole_trial_can_be_looked_at_later(writer):
    grow(writer, record(1.0, 214.0))
    trial = TrialFolder(complete(writer))
    assert trial.since("system", -math.inf).power_w.tolist() == [214.0]
    assert not trial.running()


def test_a_trial_that_was_discarded_has_ended(writer):
    trial = TrialFolder(writer.folder)
    writer.discard()
    assert not trial.running()


def test_a_trial_whose_harness_was_killed_has_ended(writer):
    trial = TrialFolder(writer.folder)
    old_s = time.time() - 3600
    os.utime(writer.folder / "power.raw", (old_s, old_s))
    assert not trial.running()


def test_bytes_that_are_no_text_are_read_too(writer):
    """As fast meters send them: `fsgreen.meters.core.rawtrace` writes what is shorter."""
    trial = TrialFolder(writer.folder)
    line = json.loads(record(1.0, 214.0))
    line["b64"] = base64.b64encode(line.pop("b").encode("latin-1")).decode()
    grow(writer, json.dumps(line) + "\n")
    assert trial.since("system", -math.inf).power_w.tolist() == [214.0]


def test_flags_keep_their_readings(writer):
    trial = TrialFolder(writer.folder)
    broken = json.dumps({"t": 2.0, "m": "system", "b": "#d,-,18,2140,12;\r\n"}) + "\n"
    grow(writer, record(1.0, 214.0) + broken + record(3.0, 216.0))
    readings = trial.since("system", -math.inf)
    (place,) = readings.flags
    assert np.isnan(readings.power_w[place])
    assert (
        trial.since("system", float(readings.time_s[place - 1])).flags[0] == readings.flags[place]
    )


@pytest.mark.parametrize(
    "text", ["", "{}\n", "[]\n", "not json\n", '{"meters": {"system": {}}}\n', '{"meters": 3}\n']
)
def test_a_file_that_is_no_trace_is_refused(tmp_path, text):
    (tmp_path / "power.raw").write_text(text)
    with pytest.raises(FsgreenError, match=r"raw power trace|description of a meter"):
        TrialFolder(tmp_path)


@pytest.mark.parametrize("line", ["nonsense\n", '{"t": 1, "m": "other", "b": ""}\n', "3\n"])
def test_a_line_that_is_no_chunk_is_an_error(writer, line):
    trial = TrialFolder(writer.folder)
    grow(writer, line)
    with pytest.raises(FsgreenError, match="raw power trace"):
        trial.since("system", -math.inf)


def test_a_folder_without_a_trace_says_what_to_do(tmp_path):
    with pytest.raises(FsgreenError, match="look again once the trial has begun"):
        TrialFolder(tmp_path)
    with pytest.raises(FsgreenError, match="measure"):
        newest_trial(tmp_path)


def test_the_trial_that_runs_is_found_in_its_campaign(writer, tmp_path):
    campaign = tmp_path / "campaign"
    assert newest_trial(campaign) == writer.folder


def test_it_follows_what_a_capture_writes(tmp_path):
    """The format of the raw trace is the capture's, not this test's."""
    meter = wattsup(lambda: 173.2, pace_s=0.05)
    try:
        with Capture({"system": meter}, tmp_path / "power.raw"):
            trial = TrialFolder(tmp_path)
            wait_for(lambda: len(trial.since("system", -math.inf)) >= 3)
            readings = trial.since("system", -math.inf)
    finally:
        meter.close()
    assert np.nanmax(readings.power_w) == 173.2
    assert trial.meters["system"].boundary == "modelled"
