import json
import math
from dataclasses import replace

import pytest
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
from sysfs_trees import Ina226Tree
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters import hwmon
from fsgreen.meters.common import asking
from fsgreen.meters.hwmon import DRIVER

RAIL = {"chip": "ina226", "covers": ["disk"]}


def description(*quantities, range_w=300.0):
    options = {"channel": 1, "quantities": list(quantities)}
    return replace(INFO, driver="hwmon", range_w=range_w, options=options)


INA226 = description("power_input", "in_input", "curr_input")


def answer(**values):
    """What the chip says: power1=5 is power1_input."""
    return json.dumps({f"{name}_input": f"{value}\n" for name, value in values.items()}).encode()


def chip(root, number, name, place, **attributes):
    """A chip of another kind, with attributes that stay."""
    folder = root / f"hwmon{number}"
    folder.mkdir()
    (root / place).mkdir()
    (folder / "device").symlink_to(root / place)
    for attribute, value in {"name": name, **attributes}.items():
        (folder / attribute).write_text(f"{value}\n")
    return folder


def test_rail_is_read_in_watts_volts_and_amperes(tmp_path):
    with Ina226Tree(tmp_path, lambda: 6.25) as tree:
        meter = opened(DRIVER, root=str(tree.root), rate_hz=50, **RAIL)
        meter.start()
        chunks = answers(meter, 3)
        meter.close()
    readings = parsed(DRIVER, meter.describe(), *(chunk.data for chunk in chunks))
    assert power(readings) == pytest.approx([6.25] * 3)
    assert [(r.voltage_v, r.current_a) for r in readings] == [(5.0, 1.25)] * 3
    assert flags(readings) == ["ok"] * 3


def test_description_says_which_chip_and_what_power_is_from(tmp_path):
    info = opened(DRIVER, root=str(Ina226Tree(tmp_path, lambda: 5.0).root), **RAIL).describe()
    assert (info.model, info.serial) == ("hwmon ina226", "1-0040 channel 1")
    assert "power1_input" in info.source
    assert (info.boundary, info.covers, info.rate_hz) == ("modelled", ("disk",), 1.0)
    told = opened(DRIVER, root=str(tmp_path), boundary="dc-rail", **RAIL).describe()
    assert told.boundary == "dc-rail"


def test_chip_is_found_by_name_whatever_its_number(tmp_path):
    Ina226Tree(tmp_path, lambda: 5.0, number=7)
    chip(tmp_path, 0, "coretemp", "coretemp.0", temp1_input=30000)
    assert opened(DRIVER, root=str(tmp_path), **RAIL).describe().serial == "1-0040 channel 1"


def test_number_that_moved_while_the_meter_was_lost_does_no_harm(tmp_path):
    Ina226Tree(tmp_path, lambda: 5.0)
    meter = opened(DRIVER, root=str(tmp_path), **RAIL)
    (tmp_path / "hwmon0").rename(tmp_path / "hwmon3")
    meter.start()
    (chunk,) = answers(meter, 1)
    assert power(parsed(DRIVER, meter.describe(), chunk.data)) == [5.0]


def test_chip_that_vanishes_is_an_error_and_another_in_its_place_too(tmp_path):
    Ina226Tree(tmp_path, lambda: 5.0)
    meter = opened(DRIVER, root=str(tmp_path), **RAIL)
    meter.start()
    (tmp_path / "hwmon0" / "power1_input").unlink()
    with pytest.raises(FsgreenError, match="power1_input is not readable"):
        meter.read(1.0)
    with pytest.raises(FsgreenError, match="not the same meter"):
        meter.start()


def test_two_chips_of_one_name_need_a_place(tmp_path):
    Ina226Tree(tmp_path, lambda: 5.0)
    Ina226Tree(tmp_path, lambda: 7.0, number=1, place="1-0041")
    several = r"several chips are called ina226 \(places: 1-0040, 1-0041\)"
    with pytest.raises(FsgreenError, match=several) as caught:
        opened(DRIVER, root=str(tmp_path), **RAIL)
    assert 'place = "1-0040"' in caught.value.next_step
    meter = opened(DRIVER, root=str(tmp_path), place="1-0041", **RAIL)
    meter.start()
    assert power(parsed(DRIVER, meter.describe(), answers(meter, 1)[0].data)) == [7.0]


def three_rails(root):
    labels = {f"in{n}_label": label for n, label in ((1, "5V"), (2, "12V"), (3, "3V3"))}
    values = {f"in{n}_input": 5000 * n for n in (1, 2, 3)} | {
        f"curr{n}_input": 100 for n in (1, 2, 3)
    }
    return chip(root, 2, "ina3221", "1-0042", **labels, **values)


def test_rail_of_several_is_chosen_by_its_label(tmp_path):
    three_rails(tmp_path)
    table = {"root": str(tmp_path), "chip": "ina3221", "covers": ["disk"]}
    meter = opened(DRIVER, label="12V", **table)
    assert "in2_input x curr2_input" in meter.describe().source
    meter.start()
    assert power(parsed(DRIVER, meter.describe(), answers(meter, 1)[0].data)) == [1.0]
    assert opened(DRIVER, channel=2, **table).describe().options == meter.describe().options
    with pytest.raises(FsgreenError, match=r"no channel is chosen: .* channel 3 3V3"):
        opened(DRIVER, **table)
    with pytest.raises(FsgreenError, match="0 channels fit 1 12V"):
        opened(DRIVER, label="12V", channel=1, **table)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chip": "ina225"}, "unknown hwmon chip with power 'ina225', did you mean ina226"),
        ({"chip": "coretemp"}, "unknown hwmon chip with power 'coretemp'"),
        ({"place": "1-0099"}, "no ina226 is at 1-0099"),
        ({"rate_hz": 100}, "measures once in 0.02 s"),
        ({"rate_hz": -1}, "rate_hz: takes a number above 0"),
        ({"range_w": 0}, "range_w: takes a number above 0"),
        ({"unit": "W"}, "unknown key unit"),
    ],
)
def test_setting_that_fits_no_chip_is_refused(tmp_path, settings, message):
    Ina226Tree(tmp_path, lambda: 5.0, update_ms=20)
    chip(tmp_path, 1, "coretemp", "coretemp.0", temp1_input=30000)
    with pytest.raises(FsgreenError, match=message):
        opened(DRIVER, root=str(tmp_path), **RAIL | settings)


def test_what_a_rail_feeds_has_to_be_said(tmp_path):
    Ina226Tree(tmp_path, lambda: 5.0)
    with pytest.raises(FsgreenError, match="the key covers is missing"):
        opened(DRIVER, root=str(tmp_path), chip="ina226")


def test_chip_slower_than_once_a_second_is_asked_no_faster(tmp_path):
    slow = {"power1_average": 200_000_000, "power1_average_interval": 4000}
    chip(tmp_path, 0, "power_meter", "ACPI000D:00", **slow)
    table = {"root": str(tmp_path), "chip": "power_meter", "covers": ["system"]}
    assert opened(DRIVER, **table).describe().rate_hz == 0.25
    with pytest.raises(FsgreenError, match="once in 4 s"):
        opened(DRIVER, rate_hz=1, **table)


def test_what_is_there_is_listed_and_what_is_not_is_missing(tmp_path):
    assert "modprobe" in hwmon.missing(tmp_path)
    assert hwmon.find(tmp_path / "nothing") == []
    Ina226Tree(tmp_path, lambda: 5.0)
    chip(tmp_path, 1, "coretemp", "coretemp.0", temp1_input=30000)
    assert hwmon.missing(tmp_path) is None
    assert hwmon.find(tmp_path) == ['chip = "ina226"\nplace = "1-0040"']


def test_busy_chip_gives_a_reading_without_a_value_and_answers_later(tmp_path, monkeypatch):
    Ina226Tree(tmp_path, lambda: 5.0)
    meter = opened(DRIVER, root=str(tmp_path), rate_hz=50, **RAIL)
    sound = asking.Path.read_text

    def busy(path, *args, **kwargs):
        if path.name == "curr1_input":
            raise OSError(5, "Input/output error")
        return sound(path, *args, **kwargs)

    meter.start()
    with monkeypatch.context() as patched:
        patched.setattr(asking.Path, "read_text", busy)
        (first,) = answers(meter, 1)
    (second,) = answers(meter, 1)
    one, two = parsed(DRIVER, meter.describe(), first.data, second.data)
    assert (one.power_w, one.quality) == (5.0, "missing")
    assert math.isnan(one.current_a)
    assert (two.current_a, two.quality) == (1.0, "ok")


def test_power_is_the_chips_own_before_its_volts_and_amperes():
    (reading,) = parsed(DRIVER, INA226, answer(power1=6_000_000, in1=5000, curr1=1250))
    assert (reading.power_w, reading.voltage_v, reading.current_a) == (6.0, 5.0, 1.25)


def test_power_is_volts_times_amperes_where_the_chip_gives_none():
    (reading,) = parsed(DRIVER, description("in_input", "curr_input"), answer(in1=12000, curr1=500))
    assert reading.power_w == pytest.approx(6.0)


def test_power_is_the_difference_of_energy_where_there_is_nothing_else():
    info = description("energy_input")
    texts = [answer(energy1=10_000_000), answer(energy1=15_000_000), answer(energy1=1_000_000)]
    one, two = parsed(DRIVER, info, *texts)
    assert (one.time_s, one.power_w, one.quality) == (2.0, pytest.approx(5.0), "ok")
    assert (two.quality, math.isnan(two.power_w), math.isnan(two.energy_wh)) == (
        "reset",
        True,
        True,
    )


def test_energy_counter_beside_power_is_kept_and_its_reset_flagged():
    info = description("power_input", "energy_input")
    texts = [answer(power1=5_000_000, energy1=joules) for joules in (7_000_000, 12_000_000, 3)]
    readings = parsed(DRIVER, info, *texts)
    assert power(readings) == [5.0, 5.0, 5.0]
    assert [r.energy_wh * 3600 for r in readings[:2]] == pytest.approx([0.0, 5.0])
    assert flags(readings) == ["ok", "ok", "reset"]
    assert math.isnan(readings[2].energy_wh)


@pytest.mark.parametrize(
    ("text", "power_w", "flag"),
    [
        (answer(power1=-1_000, in1=5000, curr1=-1), -0.001, "negative"),
        (answer(power1=400_000_000, in1=5000, curr1=1), 400.0, "over-range"),
        (answer(power1="5.0", in1=5000, curr1=1), math.nan, "bad-number"),
        (answer(power1="", in1=5000, curr1=1), math.nan, "bad-number"),
        (answer(in1=5000, curr1=1), math.nan, "missing"),
        (answer(power1=5_000_000, in1=5000), 5.0, "missing"),
        (answer(power1=5_000_000, in1=5000, curr1=1)[:-2], math.nan, "cut"),
        (b"\xff\xfe", math.nan, "cut"),
    ],
)
def test_suspect_answer_is_flagged(text, power_w, flag):
    (reading,) = parsed(DRIVER, INA226, text)
    assert reading.quality == flag
    assert reading.power_w == pytest.approx(power_w, nan_ok=True)


def test_answer_that_is_cut_gives_no_power():
    none_passes_when_cut(DRIVER, INA226, whole=answer(power1=5_000_000, in1=5000, curr1=1000))


SOUND = answer(power1=5_000_000, in1=5000, curr1=1000, energy1=10_000_000)


@fuzzed
@given(disturbed(SOUND, answer(power1=6_000_000, in1=5000, curr1=1200, energy1=15_000_000)))
def test_no_answer_crashes_the_parser_or_passes_for_a_power(texts):
    everything = ("power_input", "in_input", "curr_input", "energy_input")
    for quantities in (everything, everything[1:], everything[3:]):
        none_is_wrong(DRIVER, description(*quantities), texts)
