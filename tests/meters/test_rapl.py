import json
import math
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from sysfs_trees import RaplTree
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters import rapl
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.rapl import DRIVER

WRAP_UJ = 262_143_328_850
SERVER = {
    "intel-rapl:0": "package-0",
    "intel-rapl:0:0": "core",
    "intel-rapl:0:1": "dram",
    "intel-rapl:1": "package-1",
    "intel-rapl:1:0": "dram",
}
TWO = ("intel-rapl:0", "intel-rapl:1")
ONE = replace(
    INFO,
    driver="rapl",
    range_w=1000.0,
    options={"zones": list(TWO[:1]), "wraps_uj": [WRAP_UJ], "zone_range_w": 1000.0},
)
BOTH = replace(
    ONE,
    range_w=2000.0,
    options={"zones": list(TWO), "wraps_uj": [WRAP_UJ] * 2, "zone_range_w": 1000.0},
)


def tree(root, zones=SERVER, power_w=lambda _: 10.0, **more):
    return RaplTree(root, zones, power_w, **more)


def counts(*values, zones=TWO):
    return json.dumps(
        {zone: f"{value}\n" for zone, value in zip(zones, values, strict=False)}
    ).encode()


def test_packages_are_added_and_their_wrap_undone_while_they_count(tmp_path):
    emulated = tree(tmp_path, power_w=lambda _: 40.0, start_uj=WRAP_UJ - 2_000_000)
    meter = opened(DRIVER, root=str(emulated.root), rate_hz=10)
    meter.start()
    chunks = answers(meter, 1)
    for _ in range(3):
        emulated.step(0.1)
        chunks += answers(meter, 1)
    meter.close()
    parser = DRIVER.parser(meter.describe())
    readings = [reading for chunk in chunks for reading in parser.feed(chunk)]
    first, last = (
        [int(text) for text in json.loads(chunk.data).values()] for chunk in (chunks[0], chunks[-1])
    )
    grown_uj = sum((b - a) % WRAP_UJ for a, b in zip(first, last, strict=True))
    assert len(readings) == 3
    assert 0 < readings[-1].energy_wh * 3.6e9 == pytest.approx(grown_uj)
    assert {*flags(readings)} <= {"ok", "wrapped"}


def test_description_names_zones_domain_and_what_is_not_known(tmp_path):
    emulated = tree(tmp_path)
    info = opened(DRIVER, root=str(emulated.root), domains=["package", "dram"]).describe()
    assert info.options["zones"] == [z for z in SERVER if z != "intel-rapl:0:0"]
    assert info.covers == ("cpu", "memory")
    assert info.serial == " ".join(info.options["zones"])
    assert "assumed" in info.source
    assert (info.rate_hz, info.range_w) == (1.0, 4000.0)


def test_tree_that_is_not_the_kernels_is_modelled_unless_told(tmp_path):
    root = str(tree(tmp_path).root)
    assert opened(DRIVER, root=root).describe().boundary == "modelled"
    assert opened(DRIVER, root=root, boundary="cpu").describe().boundary == "cpu"


def test_package_that_is_shown_twice_counts_once(tmp_path):
    zones = {"intel-rapl:0": "package-0", "intel-rapl-mmio:0": "package-0"}
    info = opened(DRIVER, root=str(tree(tmp_path, zones).root)).describe()
    assert info.options["zones"] == ["intel-rapl:0"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"domains": ["package", "core"]}, "core is inside package"),
        ({"domains": ["package", "psys"]}, "package is inside psys"),
        ({"domains": ["dram", "psys"]}, "dram is inside psys"),
        ({"domains": ["package", "package"]}, "none twice"),
        ({"domains": []}, "none twice"),
        ({"domains": ["uncore"]}, "unknown RAPL domain 'uncore'"),
        ({"rate_hz": 0.5}, "rate_hz: takes a number from 1 on"),
        ({"rate_hz": 20}, "rate_hz: takes a number up to 10"),
        ({"range_w": 0}, "range_w: takes a number above 0"),
        ({"range_w": 200_000.0}, "a wrap could pass unseen"),
        ({"boundary": "wall"}, "boundary: takes cpu or modelled, not 'wall'"),
        ({"rate": 1}, "unknown key rate"),
    ],
)
def test_setting_that_would_count_wrongly_is_refused(tmp_path, settings, message):
    zones = SERVER | {"intel-rapl:2": "psys"}
    root = tree(tmp_path, zones).root
    with pytest.raises(FsgreenError, match=message):
        opened(DRIVER, root=str(root), **settings)


def test_machine_without_counters_says_so_and_what_to_do(tmp_path):
    with pytest.raises(FsgreenError, match=r"no energy counters.*modprobe"):
        opened(DRIVER, root=str(tmp_path))
    assert "modprobe" in rapl.missing(tmp_path)


def test_counter_that_does_not_tell_where_it_wraps_is_refused(tmp_path):
    emulated = tree(tmp_path)
    emulated.write("intel-rapl:1/max_energy_range_uj", "0")
    with pytest.raises(FsgreenError, match="where this counter wraps"):
        opened(DRIVER, root=str(emulated.root))


@pytest.fixture
def unprivileged():
    """Act as nobody for the length of a test, in a folder that nobody may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        root = os.geteuid() == 0
        yield Path(folder), (lambda: os.seteuid(65534)) if root else (lambda: None)
        if root:
            os.seteuid(0)


def test_counters_for_root_only_are_not_readable_and_never_zero(unprivileged):
    root, step_down = unprivileged
    emulated = tree(root)
    for path in root.glob("*/energy_uj"):
        path.chmod(0o400 if os.geteuid() == 0 else 0)
    step_down()
    with pytest.raises(
        FsgreenError, match="energy_uj is not readable: Permission denied"
    ) as caught:
        opened(DRIVER, root=str(emulated.root))
    assert "as root" in caught.value.next_step
    assert "Permission denied" in rapl.missing(root)


def test_what_is_there_is_listed_and_nothing_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(rapl, "ROOT", tree(tmp_path).root)
    assert DRIVER.find() == ['domains = ["core"]', 'domains = ["dram"]', 'domains = ["package"]']
    assert rapl.missing(tmp_path) is None


def test_zone_that_vanishes_is_an_error_and_its_return_as_another_too(tmp_path):
    emulated = tree(tmp_path)
    meter = opened(DRIVER, root=str(emulated.root))
    meter.start()
    for path in (tmp_path / "intel-rapl:1").iterdir():
        path.unlink()
    with pytest.raises(FsgreenError, match="not readable: No such file"):
        meter.read(1.0)
    with pytest.raises(FsgreenError, match="not the same meter"):
        meter.start()


def test_watts_are_the_difference_of_two_answers_and_the_first_gives_none():
    readings = parsed(DRIVER, ONE, counts(5_000_000), counts(55_000_000), counts(155_000_000))
    assert [r.time_s for r in readings] == [2.0, 3.0]
    assert power(readings) == pytest.approx([50.0, 100.0])
    assert [r.energy_wh for r in readings] == pytest.approx([50 / 3600, 150 / 3600])
    assert flags(readings) == ["ok", "ok"]


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        (counts(110_000_000_000), "over-range"),
        (counts(1_000_000), "reset"),
        (b"", "cut"),
        (b"[]", "cut"),
        (counts(5_000_000)[:-3], "cut"),
        (b"{}", "missing"),
        (b'{"intel-rapl:0": null}', "missing"),
        (b'{"intel-rapl:0": 5000000}', "bad-number"),
        (counts("5e6"), "bad-number"),
        (counts("-5"), "bad-number"),
        (counts("9" * 5000), "bad-number"),
        (b'{"intel-rapl:0": ' + b"[" * 5000, "cut"),
    ],
)
def test_answer_that_tells_no_energy_gives_no_number(answer, flag):
    before, after = counts(100_000_000_000), counts(100_050_000_000)
    readings = parsed(DRIVER, ONE, before, after, answer)
    assert flags(readings) == ["ok", flag]
    assert math.isnan(readings[1].power_w)
    assert math.isnan(readings[1].energy_wh)


def test_wrap_is_undone_and_marked():
    readings = parsed(DRIVER, ONE, counts(WRAP_UJ - 20_000_000), counts(30_000_000))
    assert power(readings) == pytest.approx([50.0])
    assert flags(readings) == ["wrapped"]


def test_pause_in_which_two_wraps_could_hide_gives_no_number():
    parser = DRIVER.parser(ONE)
    assert parser.feed(Chunk(0.0, counts(0))) == []
    (reading,) = parser.feed(Chunk(263.0, counts(100_000_000)))
    assert reading.quality == "lost"
    assert math.isnan(reading.power_w)


def test_answers_in_the_wrong_order_give_no_number():
    parser = DRIVER.parser(ONE)
    parser.feed(Chunk(2.0, counts(0)))
    (reading,) = parser.feed(Chunk(2.0, counts(1)))
    assert (reading.quality, math.isnan(reading.power_w)) == ("out-of-order", True)


def test_zone_that_is_silent_once_leaves_the_others_uncounted_until_both_answer():
    texts = (counts(0, 0), counts(10_000_000), counts(80_000_000, 40_000_000))
    readings = parsed(DRIVER, BOTH, *texts)
    assert flags(readings) == ["missing", "ok"]
    assert readings[1].power_w == pytest.approx(60.0)
    assert readings[1].energy_wh == pytest.approx(120 / 3600)


@given(
    st.integers(0, WRAP_UJ),
    st.lists(st.integers(0, 999_000_000), min_size=1, max_size=20),
)
def test_energy_is_the_truth_wherever_the_counter_starts(start_uj, grown_uj):
    totals = [start_uj]
    for step_uj in grown_uj:
        totals.append(totals[-1] + step_uj)
    readings = parsed(DRIVER, ONE, *(counts(total % WRAP_UJ) for total in totals))
    assert set(flags(readings)) <= {"ok", "wrapped"}
    assert readings[-1].energy_wh * 3.6e9 == pytest.approx(sum(grown_uj), abs=1)
    assert sum(power(readings)) * 1e6 == pytest.approx(sum(grown_uj), abs=1)


EVENTS = st.sampled_from(["sound", "sound", "sound", "drop", "garbage", "twice", "reset"])


@fuzzed
@given(
    st.integers(20_000_000_000, WRAP_UJ),
    st.lists(st.tuples(st.floats(0.1, 20.0), st.integers(0, 900), EVENTS), max_size=25),
)
def test_energy_of_a_disturbed_count_is_the_truth_or_flagged(start_uj, course):
    """A reset to 0 far from a wrap, answers that are lost, garbage, and answers that come twice."""
    parser, time_s, true_uj, count_uj = DRIVER.parser(ONE), 0.0, 0, start_uj
    readings = parser.feed(Chunk(time_s, counts(count_uj % WRAP_UJ)))
    for step_s, watts, event in [*course, (1.0, 50, "sound")]:
        time_s += step_s
        count_uj += round(watts * step_s * 1e6)
        true_uj += round(watts * step_s * 1e6)
        if event == "reset" and 20_000_000_000 < count_uj % WRAP_UJ < WRAP_UJ - 20_000_000_000:
            count_uj = WRAP_UJ
        if event != "drop":
            text = b"\0" if event == "garbage" else counts(count_uj % WRAP_UJ)
            for _ in range(1 + (event == "twice")):
                readings += parser.feed(Chunk(time_s, text))
    if set(flags(readings)) <= {"ok", "wrapped"}:
        assert readings[-1].energy_wh * 3.6e9 == pytest.approx(true_uj, abs=1)


def test_answer_that_is_cut_gives_no_power():
    none_passes_when_cut(DRIVER, BOTH, counts(1, 2), whole=counts(50_000_000, 60_000_000))


@fuzzed
@given(disturbed(counts(5_000_000, 6_000_000), counts(9_000_000, 7_000_000)))
def test_no_answer_crashes_the_parser_or_passes_for_a_power(texts):
    none_is_wrong(DRIVER, BOTH, texts)
