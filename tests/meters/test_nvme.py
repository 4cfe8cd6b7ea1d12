import json
import math
import os
from dataclasses import replace

import pytest
from emulated_nvme import (
    CONTROLLER,
    DEVICE,
    MEASUREMENT,
    SMART,
    STATE,
    Nvme,
    controller,
    measurement_page,
    smart_page,
)
from hypothesis import given
from polling import (
    answers,
    disturbed,
    flags,
    fuzzed,
    none_is_wrong,
    none_passes_when_cut,
    opened,
    parsed,
    power,
)
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters import nvme
from fsgreen.meters.nvme import DRIVER

IDENTIFY = [CONTROLLER, SMART]
MEASURED = replace(INFO, driver="nvme", range_w=100.0)
STATES = replace(MEASURED, range_w=8.5, options={"state_max_w": [8.5, 4.5, 0.0]})


def state(value):
    return f"get-feature:0x02 (Power Management), Current value:{value}\n".encode()


@pytest.fixture
def drive(tmp_path, monkeypatch):
    emulated = Nvme(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return emulated


def test_drive_that_measures_is_asked_for_its_power_and_nothing_else(drive):
    drive.measure(6.25, energy_wh=41)
    meter = opened(DRIVER, device=DEVICE)
    assert drive.program.asked() == [*IDENTIFY, MEASUREMENT, SMART]
    meter.start()
    assert drive.program.asked() == [*IDENTIFY, MEASUREMENT]
    (chunk,) = answers(meter, 1)
    assert drive.program.asked() == [SMART]
    (reading,) = parsed(DRIVER, meter.describe(), chunk.data)
    assert (reading.power_w, reading.energy_wh, reading.quality) == (6.25, 41.0, "ok")


def test_description_of_a_drive_that_measures_has_its_own_error(drive):
    drive.measure(6.25)
    info = opened(DRIVER, device=DEVICE).describe()
    assert (info.model, info.serial) == ("Emulated SSD, firmware 1B2Q", "S3ESNX0J315971L")
    assert (info.boundary, info.covers, info.gain_error) == ("dc-rail", ("disk",), 0.03)
    assert "measured by the drive" in info.source


def test_drive_that_states_no_error_gets_that_of_the_settings(drive):
    drive.measure(6.25)
    drive.program.says(MEASUREMENT, measurement_page(255))
    assert opened(DRIVER, device=DEVICE, gain_error=0.2).describe().gain_error == 0.2
    drive.program.fails(MEASUREMENT, "Invalid Log Page")
    info = opened(DRIVER, device=DEVICE).describe()
    assert (info.gain_error, "not stated" in info.source) == (0.1, True)


def test_power_that_the_drive_estimates_is_modelled(drive):
    drive.measure(6.25)
    drive.program.says(MEASUREMENT, measurement_page(estimated=True))
    info = opened(DRIVER, device=DEVICE).describe()
    assert (info.boundary, "estimated by the drive" in info.source) == ("modelled", True)
    with pytest.raises(FsgreenError, match="is modelled"):
        opened(DRIVER, device=DEVICE, boundary="dc-rail")


def test_drive_that_measures_nothing_gives_the_maximum_of_its_state_as_modelled(drive):
    drive.rest(3)
    meter = opened(DRIVER, device=DEVICE)
    assert drive.program.asked() == [*IDENTIFY, STATE]
    info = meter.describe()
    assert (info.boundary, info.gain_error) == ("modelled", 1.0)
    assert "anything up to it" in info.source
    meter.start()
    (chunk,) = answers(meter, 1)
    assert power(parsed(DRIVER, info, chunk.data)) == pytest.approx([0.025])


def test_power_state_can_be_asked_of_a_drive_that_measures(drive):
    drive.measure(6.25)
    info = opened(DRIVER, device=DEVICE, gives="state").describe()
    assert info.options["state_max_w"] == pytest.approx([8.5, 4.5, 3.0, 0.025, 0.005])
    assert drive.program.asked() == [CONTROLLER, STATE]


def test_older_nvme_cli_gives_the_scale_in_its_flags(drive):
    about = json.loads(controller())
    for one in about["psds"]:
        one["flags"] = one.pop("max_power_scale") | 2
    drive.program.says(CONTROLLER, json.dumps(about).encode())
    info = opened(DRIVER, device=DEVICE).describe()
    assert info.options["state_max_w"] == pytest.approx([8.5, 4.5, 3.0, 0.025, 0.005])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gives": "measured"}, "reports no power of its own"),
        ({"gives": "power"}, "gives: takes auto, measured or state"),
        ({"boundary": "wall"}, "boundary: takes dc-rail or modelled"),
        ({"boundary": "dc-rail"}, "the power of this drive is modelled"),
        ({"serial": "1"}, "unknown key serial"),
    ],
)
def test_setting_that_the_drive_cannot_hold_is_refused(drive, settings, message):
    with pytest.raises(FsgreenError, match=message):
        opened(DRIVER, device=DEVICE, **settings)


@pytest.mark.parametrize(
    "said", [b"", b"no JSON", b"[]", b"{}", b'{"psds": 5}', b'{"psds": [7, {"max_power": null}]}']
)
def test_drive_of_which_nothing_can_be_read_is_refused(drive, said):
    drive.program.says(CONTROLLER, said)
    with pytest.raises(FsgreenError, match=r"cannot be read|nor states it"):
        opened(DRIVER, device=DEVICE)


def test_complaint_of_nvme_is_passed_on_with_the_remedy(drive):
    drive.program.fails(CONTROLLER, f"{DEVICE}: Permission denied")
    with pytest.raises(FsgreenError, match="Permission denied") as caught:
        opened(DRIVER, device=DEVICE)
    assert "as root" in caught.value.next_step


def test_program_that_hangs_is_an_error(drive, monkeypatch):
    monkeypatch.setattr(nvme, "TIMEOUT_S", 0.1)
    drive.program.hangs(CONTROLLER, 600)
    with pytest.raises(FsgreenError, match="no answer within"):
        opened(DRIVER, device=DEVICE)


def test_another_drive_at_the_same_name_is_refused(drive):
    meter = opened(DRIVER, device=DEVICE)
    drive.program.says(CONTROLLER, controller("OTHER"))
    with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
        meter.start()


def test_drives_are_listed_by_names_that_stay(tmp_path, monkeypatch):
    ssd = "nvme-Samsung_SSD_980_PRO_1TB_S5GXNX0T123456"
    names = [ssd, f"{ssd}_1", f"{ssd}-part1", f"{ssd}-part12", "nvme-eui.0025385b21"]
    for name in [*names, "ata-disk"]:
        (tmp_path / name).touch()
    monkeypatch.setattr(nvme, "BY_ID", tmp_path)
    assert DRIVER.find() == [f'device = "{tmp_path / ssd}"']


def test_power_of_the_log_is_in_its_scale():
    readings = parsed(DRIVER, MEASURED, smart_page(62_500, scale=1), smart_page(625, scale=2))
    assert power(readings) == pytest.approx([6.25, 6.25])
    assert all(math.isnan(reading.energy_wh) for reading in readings)


@pytest.mark.parametrize(
    ("page", "flag"),
    [
        (smart_page(0), "missing"),
        (smart_page(5, scale=0), "missing"),
        (smart_page(5, scale=3), "missing"),
        (smart_page(5, kind=12), "missing"),
        (smart_page(20_000, energy_wh=9), "over-range"),
        (smart_page(625)[:-1], "cut"),
        (smart_page(625) + b"\n", "cut"),
        (b"", "cut"),
    ],
)
def test_page_without_a_sound_power_is_flagged(page, flag):
    (reading,) = parsed(DRIVER, MEASURED, page)
    assert reading.quality == flag
    assert math.isnan(reading.power_w) == (flag != "over-range")


def test_energy_that_goes_back_is_flagged_and_not_given():
    readings = parsed(DRIVER, MEASURED, *(smart_page(625, energy_wh=wh) for wh in (7, 8, 3, 4)))
    assert flags(readings) == ["ok", "ok", "reset", "ok"]
    assert [r.energy_wh for r in readings] == pytest.approx([7, 8, math.nan, 4], nan_ok=True)


@pytest.mark.parametrize(
    ("text", "power_w", "flag"),
    [
        (state("00000000"), 8.5, "ok"),
        (state("0x000001"), 4.5, "ok"),
        (state("0x00000021"), 4.5, "ok"),
        (b"get-feature:0x2 (Power Management), Current value:0x000001\n", 4.5, "ok"),
        (state("0x00000002"), math.nan, "missing"),
        (state("0x0000001f"), math.nan, "missing"),
        (state("0x000001")[:-2], math.nan, "cut"),
        (state("0x00000g"), math.nan, "cut"),
        (b"get-feature:0x04 (Temperature Threshold), Current value:0x000001\n", math.nan, "cut"),
        (b"", math.nan, "cut"),
    ],
)
def test_power_state_is_read_from_every_version_of_nvme_cli(text, power_w, flag):
    (reading,) = parsed(DRIVER, STATES, text)
    assert reading.quality == flag
    assert reading.power_w == pytest.approx(power_w, nan_ok=True)


def test_answer_that_is_cut_gives_no_power():
    none_passes_when_cut(DRIVER, MEASURED, whole=smart_page(625, energy_wh=4))
    none_passes_when_cut(DRIVER, STATES, whole=state("0x00000001"))


@fuzzed
@given(disturbed(smart_page(625, energy_wh=4), smart_page(900, energy_wh=5)))
def test_no_page_crashes_the_parser_or_passes_for_a_power(pages):
    none_is_wrong(DRIVER, MEASURED, pages)


@fuzzed
@given(disturbed(state("0x00000001"), state("00000000")))
def test_no_answer_crashes_the_parser_or_passes_for_a_state(texts):
    none_is_wrong(DRIVER, STATES, texts)
