import math
import os
import threading
from dataclasses import replace

import pytest
from emulated_ipmitool import READING, Ipmitool, reading
from emulated_program import Program
from hypothesis import given
from polling import answers, disturbed, flags, fuzzed, none_is_wrong, opened, parsed, power
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters.ipmi import DRIVER
from tests.patience import LIMIT_S

IDENTIFY = ["mc info", "mc guid"]
BMC = replace(INFO, driver="ipmi", range_w=10_000.0)

STATISTICS = "--get-system-power-statistics"
FREEIPMI = b"""Current Power                        : 50 Watts
Minimum Power over sampling duration : 48 watts
Maximum Power over sampling duration : 361 watts
Average Power over sampling duration : 157 watts
Time Stamp                           : 12/29/2023 - 08:58:00
Statistics reporting time period     : 1473439000 milliseconds
Power Measurement                    : Active
"""


@pytest.fixture
def controller(tmp_path, monkeypatch):
    emulated = Ipmitool(tmp_path, lambda: 235.2)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return emulated.program


def test_controller_is_asked_who_it_is_and_then_for_its_power_alone(controller):
    meter = opened(DRIVER)
    assert controller.asked() == [*IDENTIFY, READING]
    meter.start()
    assert controller.asked() == IDENTIFY
    (chunk,) = answers(meter, 1)
    assert controller.asked() == [READING]
    assert chunk.data == reading(235)
    assert power(parsed(DRIVER, meter.describe(), chunk.data)) == [235.0]


def test_description_names_the_controller(controller):
    info = opened(DRIVER).describe()
    assert "manufacturer name Supermicro" in info.model
    assert "firmware revision 1.74" in info.model
    assert info.serial == "31303043-534d-2500-90d8-7a1100000000"
    assert (info.boundary, info.covers, info.rate_hz) == ("wall", ("system",), 1.0)


def test_controller_without_a_guid_is_no_error(controller):
    controller.fails("mc guid", "Get GUID command failed: Invalid command")
    assert opened(DRIVER).describe().serial == "no GUID"


def test_password_reaches_the_program_by_its_environment_alone(controller, monkeypatch, tmp_path):
    login = "-I lanplus -H bmc7 -U operator -E "
    for command, answer in (("mc info", b""), ("mc guid", b""), (READING, reading(100))):
        controller.says(login + command, answer)
    (tmp_path / "password").write_text("secret\n")
    opened(DRIVER, host="bmc7", user="operator", password_file=str(tmp_path / "password"))
    monkeypatch.setenv("BMC_PASSWORD", "secret")
    info = opened(DRIVER, host="bmc7", user="operator", password_env="BMC_PASSWORD").describe()
    assert controller.asked() == [login + command for command in (*IDENTIFY, READING)] * 2
    assert "secret" not in repr(info)


def test_password_is_given_to_the_program(tmp_path, monkeypatch):
    (tmp_path / "ipmitool").write_text(
        f'#!/bin/sh\necho "$IPMITOOL_PASSWORD" >{tmp_path}/given\nexit 1\n'
    )
    (tmp_path / "ipmitool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("BMC_PASSWORD", "secret")
    with pytest.raises(FsgreenError) as caught:
        opened(DRIVER, host="bmc7", user="operator", password_env="BMC_PASSWORD")
    assert (tmp_path / "given").read_text() == "secret\n"
    assert "check host" in caught.value.next_step
    assert "secret" not in str(caught.value)


def test_ipmi_dcmi_is_read_too(tmp_path, monkeypatch):
    other = Program(tmp_path, "ipmi-dcmi")
    other.says(STATISTICS, FREEIPMI)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    meter = opened(DRIVER, program="ipmi-dcmi")
    meter.start()
    (chunk,) = answers(meter, 1)
    assert power(parsed(DRIVER, meter.describe(), chunk.data)) == [50.0]
    assert other.asked() == [STATISTICS, STATISTICS]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"password": "secret"}, "stands in the testbed file"),
        ({"host": "bmc7", "user": "operator"}, "needs host, user and password_env"),
        ({"user": "operator"}, "needs host"),
        ({"password_env": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE is not set"),
        ({"password_file": "/no/such/file"}, "cannot be read"),
        ({"password_file": "/dev/null"}, "is empty"),
        ({"password_file": "x", "password_env": "y"}, "not both"),
        ({"rate_hz": 10}, "rate_hz: takes a number up to 5"),
        ({"timeout_s": 0}, "timeout_s: takes a number above 0"),
        ({"program": "ipmiutil"}, "program: takes ipmitool or ipmi-dcmi"),
        ({"interface": "lan"}, "unknown key interface"),
    ],
)
def test_setting_that_cannot_be_is_refused(controller, settings, message):
    with pytest.raises(FsgreenError, match=message):
        opened(DRIVER, **settings)
    assert controller.asked() == []


def test_host_of_ipmi_dcmi_is_refused(monkeypatch):
    monkeypatch.setenv("BMC_PASSWORD", "secret")
    table = {"host": "bmc7", "user": "operator", "password_env": "BMC_PASSWORD"}
    with pytest.raises(FsgreenError, match=r"freeipmi\.conf"):
        opened(DRIVER, program="ipmi-dcmi", **table)


def test_machine_without_a_controller_is_told_what_to_load(controller):
    controller.fails("mc info", "Could not open device at /dev/ipmi0 or /dev/ipmi/0")
    with pytest.raises(FsgreenError, match="Could not open device") as caught:
        opened(DRIVER)
    assert "modprobe" in caught.value.next_step


def test_controller_that_does_not_answer_in_time_is_an_error(controller):
    controller.hangs("mc info", 600)
    with pytest.raises(FsgreenError, match="no answer within"):
        opened(DRIVER, timeout_s=0.1)


def test_controller_that_measures_nothing_is_refused_when_it_is_opened(controller):
    controller.says(READING, reading(235, "deactivated"))
    with pytest.raises(FsgreenError, match="gives no power: missing"):
        opened(DRIVER)


def test_another_controller_is_refused(controller):
    meter = opened(DRIVER)
    controller.says("mc guid", b"System GUID  : 00000000-1111\n")
    with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
        meter.start()


def test_value_that_the_controller_repeats_is_stale_until_it_measures_anew(tmp_path, monkeypatch):
    watts, measured = [200], threading.Event()

    def power_w():
        measured.set()
        return watts[0]

    emulated = Ipmitool(tmp_path, power_w, refresh_s=0.001)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    meter = opened(DRIVER, rate_hz=5)
    meter.start()
    chunks = answers(meter, 2)
    watts[0] = 220
    measured.clear()
    with emulated:
        assert measured.wait(LIMIT_S)
    chunks += answers(meter, 1)
    readings = parsed(DRIVER, meter.describe(), *(chunk.data for chunk in chunks))
    assert flags(readings) == ["ok", "stale", "ok"]
    assert power(readings) == [200.0, 200.0, 220.0]


def test_equal_power_with_another_average_is_a_new_measurement():
    average = b"Average power reading over sample period:      "
    other = reading(235).replace(average + b"235", average + b"236")
    assert flags(parsed(DRIVER, BMC, reading(235), other)) == ["ok", "ok"]


@pytest.mark.parametrize(
    ("text", "power_w", "flag"),
    [
        (FREEIPMI, 50.0, "ok"),
        (FREEIPMI.replace(b"Active", b"Not Available"), math.nan, "missing"),
        (reading(235, "deactivated"), math.nan, "missing"),
        (reading(20_000), 20_000.0, "over-range"),
        (reading(235)[:40], math.nan, "cut"),
        (reading(235) * 2, math.nan, "cut"),
        (reading(-5), math.nan, "cut"),
        (b"", math.nan, "cut"),
        (b"\xff" * 100, math.nan, "cut"),
    ],
)
def test_answer_without_a_sound_power_is_flagged(text, power_w, flag):
    (found,) = parsed(DRIVER, BMC, text)
    assert found.quality == flag
    assert found.power_w == pytest.approx(power_w, nan_ok=True)


def test_timestamp_without_the_end_of_its_line_does_no_harm():
    """ipmitool 1.8.19 prints the time and the sampling period on one line."""
    text = reading(235).replace(b"2024\n", b"2024")
    assert power(parsed(DRIVER, BMC, text)) == [235.0]


@pytest.mark.parametrize("whole", [reading(235), FREEIPMI])
def test_answer_cut_at_any_byte_is_the_truth_or_no_number(whole):
    (truth,) = parsed(DRIVER, BMC, whole)
    for end in range(len(whole)):
        (found,) = parsed(DRIVER, BMC, whole[:end])
        assert found.power_w == truth.power_w or found.quality in ("cut", "missing")


@fuzzed
@given(disturbed(reading(235), FREEIPMI))
def test_no_answer_crashes_the_parser_or_passes_for_a_power(texts):
    none_is_wrong(DRIVER, BMC, texts)
