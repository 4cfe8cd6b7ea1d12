import math

import pytest

from fsgreen.meters.core.host import Cores


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def idle_states(core, *times_us):
    for nth, time_us in enumerate(times_us):
        write(core / f"cpuidle/state{nth}/time", f"{time_us}\n")


def cycles(cores, **busy_s):
    return cores.sample(busy_s)["cpu_cycles_count"]


def test_machine_that_tells_nothing_gives_nothing_rather_than_zero(tmp_path):
    (tmp_path / "cpu0").mkdir()
    row = Cores(tmp_path).sample({"cpu0": 1.0})
    assert all(math.isnan(value) for value in row.values())


def test_shallow_idle_is_the_time_in_all_states_but_each_core_s_deepest(tmp_path):
    idle_states(tmp_path / "cpu0", 1_000_000, 2_000_000, 50_000_000)
    idle_states(tmp_path / "cpu1", *[500_000] * 10, 9_000_000)
    (tmp_path / "cpuidle").mkdir()
    row = Cores(tmp_path).sample({})
    assert row["cpu_shallow_idle_s"] == pytest.approx(3 + 5)


def test_cycles_are_each_core_s_working_time_at_its_own_clock(tmp_path):
    write(tmp_path / "cpu0/cpufreq/scaling_cur_freq", "3000000\n")
    write(tmp_path / "cpu1/cpufreq/scaling_cur_freq", "1000000\n")
    cores = Cores(tmp_path)
    assert cycles(cores, cpu0=10.0, cpu1=10.0) == 0
    assert cycles(cores, cpu0=11.0, cpu1=10.5) == pytest.approx(3.5e9)
    write(tmp_path / "cpu0/cpufreq/scaling_cur_freq", "2000000\n")
    assert cycles(cores, cpu0=12.0, cpu1=10.5) == pytest.approx(5.5e9)


def test_clock_is_the_mean_since_the_sample_before_where_the_kernel_keeps_it(tmp_path):
    file = tmp_path / "cpu0/cpufreq/stats/time_in_state"
    write(tmp_path / "cpu0/cpufreq/scaling_cur_freq", "9000000\n")
    write(file, "2000000 1000\n1000000 1000\n")
    cores = Cores(tmp_path)
    assert cycles(cores, cpu0=0.0) == 0
    write(file, "2000000 1075\n1000000 1025\n")
    assert cycles(cores, cpu0=1.0) == pytest.approx(1.75e9)
    assert cycles(cores, cpu0=2.0) == pytest.approx(3.5e9)


def test_core_taken_offline_leaves_a_gap_and_no_wrong_count(tmp_path):
    file = tmp_path / "cpu0/cpufreq/scaling_cur_freq"
    write(file, "1000000\n")
    idle_states(tmp_path / "cpu0", 1, 2)
    cores = Cores(tmp_path)
    cycles(cores, cpu0=0.0)
    file.unlink()
    (tmp_path / "cpu0/cpuidle/state0/time").unlink()
    assert all(math.isnan(value) for value in cores.sample({"cpu0": 1.0}).values())
    write(file, "1000000\n")
    assert cycles(cores, cpu0=2.0) == pytest.approx(1e9)


@pytest.mark.parametrize("text", ["", "garbage\n", "1 2 3\n", "\0\n"])
def test_file_of_nonsense_gives_nothing(tmp_path, text):
    write(tmp_path / "cpu0/cpufreq/scaling_cur_freq", text)
    write(tmp_path / "cpu1/cpufreq/stats/time_in_state", text)
    cores = Cores(tmp_path)
    cores.sample({"cpu0": 0.0, "cpu1": 0.0})
    assert math.isnan(cycles(cores, cpu0=1.0, cpu1=1.0))
