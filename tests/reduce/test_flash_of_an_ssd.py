"""What a simulated SSD programs into its flash, over what was written to it."""

import math

import numpy as np
import pandas as pd
import pytest
from synthetic import record

from fsgreen.design.columns import OF_SSD
from fsgreen.reduce.state import flash_served

TIME_S = np.arange(0.0, 41.0)
PHASES = [("warmup", 5, 10), ("measure", 10, 20), ("flush", 20, 25), ("idle", 25, 35)]


def served(phases=PHASES, **counted):
    """What a trial says of its flash, given rates at which counters grew."""
    host = pd.DataFrame({"time_s": TIME_S, **{name: TIME_S * b_s for name, b_s in counted.items()}})
    named = [{"name": n, "start_s": float(a), "end_s": float(b)} for n, a, b in phases]
    return flash_served(host, record(phases=named))


def test_flash_is_counted_while_what_was_measured_is_written():
    """The warm-up is no part of it, and the flush is: a drive programs its cache then."""
    found = served(host_written_b=1000.0, flash_programmed_b=2500.0)
    assert found == pytest.approx(dict(zip(OF_SSD, (15_000, 37_500, 250), strict=True)))


def test_each_window_counts_with_its_flush():
    windows = [("measure", 10, 12), ("flush", 12, 13), ("measure", 20, 24), ("flush", 24, 25)]
    assert served(windows, host_written_b=1000.0, flash_programmed_b=0.0)[OF_SSD[0]] == 8000


def test_an_ssd_that_was_only_read_has_no_ratio():
    found = served(host_written_b=0.0, flash_programmed_b=0.0)
    assert found["host_written_b"] == found["flash_programmed_b"] == 0
    assert math.isnan(found["flash_programmed_percent"])


def test_other_disks_add_no_column_to_a_table():
    """Tables of campaigns that ship would change, and empty columns say nothing."""
    assert served(disk_write_b=1000.0) == {}
    assert served(host_written_b=math.nan, flash_programmed_b=math.nan) == {}
