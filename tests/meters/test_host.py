import math
import os
import statistics
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters.core import host
from fsgreen.meters.core.host import (
    COLUMNS,
    HostSampler,
    parse_cores,
    parse_diskstats,
    parse_stat,
    standby_s,
)

TICKS = os.sysconf("SC_CLK_TCK")
STAT = "cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5 0\n"
CORES = "cpu0 100 0 50 1000 0 0 0 0 0 0\ncpu11 1 2 3 4 5 6 7 8 0 0\ncpufreq 1\n"
DISKS = (
    "   7       0 loop0 1 0 8 1 0 0 0 0 0 1 1\n"
    "   7       3 loop3 10 1 80 5 20 2 160 9 0 1500 14 6 0 48 3 4 2\n"
)


def test_processor_shares_are_seconds_over_all_cores():
    assert parse_stat(STAT) == pytest.approx(
        {
            "cpu_user_s": 120 / TICKS,
            "cpu_system_s": 43 / TICKS,
            "cpu_iowait_s": 50 / TICKS,
            "cpu_idle_s": 4000 / TICKS,
            "cpu_steal_s": 8 / TICKS,
        }
    )


def test_disk_counters_are_those_of_the_named_device():
    assert parse_diskstats(DISKS, "loop3") == {
        "disk_read_b": 80 * 512,
        "disk_write_b": 160 * 512,
        "disk_reads_count": 10,
        "disk_writes_count": 20,
        "disk_busy_s": 1.5,
        "disk_discards_count": 6,
    }


def test_kernel_that_counts_no_discards_says_so_rather_than_zero():
    old = "7 3 loop3 10 1 80 5 20 2 160 9 0 1500 14"
    counters = parse_diskstats(old, "loop3")
    assert counters["disk_busy_s"] == 1.5
    assert math.isnan(counters["disk_discards_count"])


def test_working_time_of_each_core_is_told_apart():
    assert parse_cores(STAT + CORES) == pytest.approx({"cpu0": 150 / TICKS, "cpu11": 19 / TICKS})


@pytest.mark.parametrize("line", ["cpu0", "cpu0 1 2 3", "cpu0 a b c d e f g h"])
def test_unreadable_line_of_a_core_is_named(line):
    with pytest.raises(FsgreenError, match="cannot be read"):
        parse_cores(line)


@pytest.mark.parametrize(
    ("status", "suspended_ms", "expected_s"),
    [
        ("suspended", "61500", 61.5),
        ("active", "0", 0.0),
        ("unsupported", "0", math.nan),
        ("active", "a while", math.nan),
    ],
)
def test_standby_is_what_the_kernel_tells_of_it(
    tmp_path, monkeypatch, status, suspended_ms, expected_s
):
    power = tmp_path / "sda" / "device" / "power"
    power.mkdir(parents=True)
    (power / "runtime_status").write_text(f"{status}\n")
    (power / "runtime_suspended_time").write_text(f"{suspended_ms}\n")
    monkeypatch.setattr(host, "SYS_BLOCK", tmp_path)
    assert standby_s("sda") == pytest.approx(expected_s, nan_ok=True)
    assert math.isnan(standby_s("sdb"))


@pytest.mark.parametrize("device", [None, "loop", "loop33"])
def test_no_device_has_no_counters_rather_than_zero(device):
    assert all(math.isnan(value) for value in parse_diskstats(DISKS, device).values())


@pytest.mark.parametrize("text", ["", "cpu\n", "cpu 1 2 3\n", "cpu a b c d e f g h\n", "cpu0 1 1"])
def test_unreadable_processor_line_is_named(text):
    with pytest.raises(FsgreenError, match="cannot be read"):
        parse_stat(text)


@pytest.mark.parametrize(
    "line",
    [
        "7 3 loop3",
        "7 3 loop3 1 2 3",
        "7 3 loop3 a b c d e f g h i j",
        "7 3 loop3 1 1 1 1 1 1 1 1 1 1 1 x",
    ],
)
def test_unreadable_disk_line_is_named(line):
    with pytest.raises(FsgreenError, match="cannot be read"):
        parse_diskstats(line, "loop3")


@given(st.text(max_size=80))
@settings(max_examples=40)
def test_other_lines_do_not_matter(text):
    other = text.replace("cpu", "").replace("loop3", "")
    assert parse_stat(f"{other}\n{STAT}") == parse_stat(STAT)
    assert parse_diskstats(f"{other}\n{DISKS}", "loop3") == parse_diskstats(DISKS, "loop3")


def test_this_machine_is_sampled_at_little_cost():
    sampler = HostSampler(lambda: None)
    row = sampler.sample()
    assert tuple(row) == COLUMNS
    assert row["cpu_idle_s"] > 0

    def cost_s():
        before_s = time.thread_time()
        sampler.sample()
        return time.thread_time() - before_s

    # A machine may count the time that another has stolen from it as the thread's own.
    assert statistics.median(cost_s() for _ in range(50)) < 0.002


def test_device_is_asked_for_at_every_sample():
    names = iter([None, "no-such-device"])
    sampler = HostSampler(lambda: next(names))
    sampler.sample()
    sampler.sample()
    assert next(names, "asked twice") == "asked twice"
