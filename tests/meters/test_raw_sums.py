"""Joules that a counter counted are all in the energy of its raw bytes, however late it answers."""

import json
from dataclasses import replace

import pytest
from traces import INFO

from fsgreen.cli import main
from fsgreen.meters import Chunk
from fsgreen.meters.core.rawtrace import RawWriter
from fsgreen.meters.core.registry import live_driver
from fsgreen.meters.files.energies import energy_of
from fsgreen.meters.raw import import_raw

ASKED_S = [0.0, 1.0, 2.0, 3.3, 4.0, 5.0]
COUNTED_J = [0, 10, 20, 1020, 1030, 1040]
RAPL = replace(
    INFO,
    driver="rapl",
    boundary="cpu",
    range_w=1000.0,
    gain_error=0.05,
    options={"zones": ["intel-rapl:0"], "wraps_uj": [2**38], "zone_range_w": 1000.0},
)


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "power.raw"
    writer = RawWriter(path, {"processor": RAPL}, ahead_s=1.8e9)
    for time_s, counted_j in zip(ASKED_S, COUNTED_J, strict=True):
        answer = json.dumps({"intel-rapl:0": f"{counted_j * 1_000_000}\n"})
        writer.store("processor", Chunk(time_s, answer.encode()))
    writer.close()
    return path


def test_a_burst_before_a_late_answer_is_in_the_energy(raw, capsys):
    """The trapezoid gave 803 J of 1030 J, within 41 J."""
    said = energy_of(import_raw(raw, "processor"))
    assert said.energy_j == pytest.approx(1030.0, rel=1e-6)
    assert said.energy_j == pytest.approx(said.counter_energy_j, rel=1e-6)
    assert said.budget.edges_j == 0
    assert main(["import", str(raw), "--driver", "raw"]) == 0
    shown = capsys.readouterr().out
    assert "energy 1030 J" in shown and "the energy is the sum of the rows" in shown
    assert "own counter" not in shown, "it is no second opinion"


COUNTER, POWER = {"energy": ["1.3", 0.1]}, {"energy": ["1.3", 100.0], "power": ["1.4", 1.0]}


@pytest.mark.parametrize(
    ("driver", "options", "means"),
    [
        ("rapl", RAPL.options, True),
        ("simdisk", {}, True),
        ("hwmon", {"channel": 1, "quantities": ["energy_input"]}, True),
        ("hwmon", {"channel": 1, "quantities": ["power_input", "energy_input"]}, False),
        ("snmp", {"bits": 32, "objects": COUNTER}, True),
        ("snmp", {"bits": 32, "objects": POWER}, False),
        ("wattsup", {}, False),
    ],
)
def test_only_what_a_counter_gives_as_power_is_added_up(driver, options, means):
    """A power that a meter measured itself may be of a moment."""
    assert live_driver(driver).means(replace(INFO, driver=driver, options=options)) is means
