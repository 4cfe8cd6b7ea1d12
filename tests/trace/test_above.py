"""For how long a device drew more than at rest, whatever the pieces in which its trace is read."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.meters.core.powertable import write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.trace import powerfile, time_above_s

REST_W, WORK_W = 0.15, 2.6


def traced(folder: Path, time_s: np.ndarray, power_w: np.ndarray) -> Path:
    write_power(folder / "power.parquet", {"disk": [Readings(time_s, power_w)]})
    return folder / "power.parquet"


@pytest.mark.parametrize("piece_count", [1, 7, powerfile.PIECE_COUNT])
def test_an_ssd_that_works_one_tenth_of_the_time_is_busy_for_a_tenth(
    tmp_path: Path, piece_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(powerfile, "PIECE_COUNT", piece_count)
    time_s = 100 + np.arange(5001) / 1000
    power_w = np.where(np.arange(5001) % 10 == 3, WORK_W, REST_W)
    file = traced(tmp_path, time_s, power_w)
    assert time_above_s(file, "disk", 101.0, 104.0, 0.2) == pytest.approx(0.3, rel=1e-6)
    assert time_above_s(file, "disk", 101.0, 104.0, REST_W) == pytest.approx(0.3, rel=1e-6)
    assert time_above_s(file, "disk", 101.0, 104.0, 0.0) == pytest.approx(3.0, rel=1e-6)
    assert time_above_s(file, "disk", 101.0, 104.0, WORK_W) == 0.0


def test_what_the_trace_does_not_tell_is_not_taken_for_rest(tmp_path: Path) -> None:
    time_s, power_w = np.arange(11.0), np.full(11, REST_W)
    file = traced(tmp_path, time_s, power_w)
    assert time_above_s(file, "disk", 0.0, 10.0, 0.2) == 0.0
    for start_s, end_s in ((-1.0, 5.0), (5.0, 11.0)):
        assert math.isnan(time_above_s(file, "disk", start_s, end_s, 0.2)), "beyond the trace"
    assert math.isnan(time_above_s(file, "other", 0.0, 10.0, 0.2)), "no such meter"
    power_w[4] = math.nan
    file = traced(tmp_path, time_s, power_w)
    assert math.isnan(time_above_s(file, "disk", 0.0, 10.0, 0.2)), "a reading has no value"
    assert time_above_s(file, "disk", 5.0, 10.0, 0.2) == 0.0


@given(
    works=st.lists(st.booleans(), min_size=2, max_size=50),
    cut=st.floats(0.0, 1.0),
)
def test_the_parts_of_a_span_add_up(
    tmp_path_factory: pytest.TempPathFactory, works: list[bool], cut: float
) -> None:
    folder = tmp_path_factory.mktemp("trace")
    time_s = np.arange(float(len(works)))
    file = traced(folder, time_s, np.where(works, WORK_W, REST_W))
    end_s = float(time_s[-1])
    middle_s = cut * end_s
    parts = [
        time_above_s(file, "disk", *part, 0.2) for part in ((0.0, middle_s), (middle_s, end_s))
    ]
    assert sum(parts) == pytest.approx(sum(works[1:]))
