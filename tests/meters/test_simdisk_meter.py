"""The energy of a simulated disk is exact, or it is flagged."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from polling import answers, disturbed, flags, fuzzed, none_is_wrong, none_passes_when_cut, opened
from simdisks import line, serving

from fsgreen.errors import FsgreenError
from fsgreen.meters import Chunk, open_meters, simdisk
from fsgreen.meters.simdisk import DRIVER, parts_j
from fsgreen.trace import MeterInfo

START_NS = 1_000_000_000_000


def account(second: float, idle_j: float, seek_j: float) -> bytes:
    parts_uj = {"idle": round(idle_j * 1e6), "seek": round(seek_j * 1e6)}
    return line(
        ok=True,
        time_ns=START_NS + round(second * 1e9),
        total_uj=sum(parts_uj.values()),
        parts_uj=parts_uj,
    )


def info(tmp_path: Path, **settings: Any) -> MeterInfo:
    with serving(tmp_path / "control", lambda _: account(0, 0, 0)):
        return opened(DRIVER, control=str(tmp_path / "control"), **settings).describe()


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> MeterInfo:
    return info(tmp_path_factory.mktemp("sheet"))


def readings(sheet: MeterInfo, *texts: bytes) -> list[Any]:
    parser = DRIVER.parser(sheet)
    return [reading for text in texts for reading in parser.feed(Chunk(1.0, text))]


def test_power_is_the_growth_of_the_account_at_the_servers_own_times(sheet: MeterInfo) -> None:
    """The host's times of answers, which wait for a processor, would make power of nothing."""
    first, second = readings(sheet, account(0, 0, 0), account(0.1, 0.5, 0.1), account(0.3, 1.5, 1))
    assert (first.time_s, second.time_s) == (1000.1, 1000.3)
    assert first.power_w == pytest.approx(6)
    assert second.power_w == pytest.approx(9.5)
    assert second.energy_wh * 3600 == pytest.approx(2.5)
    assert flags([first, second]) == ["ok", "ok"]


def test_it_is_modelled_exact_and_the_same_for_every_disk(sheet: MeterInfo) -> None:
    assert (sheet.boundary, sheet.gain_error, sheet.constant_error_w) == ("modelled", 0, 0)
    assert sheet.covers == ("disk",)
    assert not sheet.options


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        (line(ok=False, what="no disk"), "absent"),
        (line(ok=True, time_ns=1), "missing"),
        (line(ok=True, time_ns=1, total_uj=-1, parts_uj={"idle": -1}), "bad-number"),
        (line(ok=True, time_ns=1, total_uj=1.5, parts_uj={"idle": 1}), "bad-number"),
        (line(ok=True, time_ns=1, total_uj=50, parts_uj={"idle": 20, "seek": 20}), "parts"),
    ],
)
def test_an_account_that_is_none_gives_no_power(sheet: MeterInfo, answer: bytes, flag: str) -> None:
    (reading,) = readings(sheet, answer)
    assert reading.power_w != reading.power_w
    assert reading.quality == flag


def test_another_disk_begins_at_zero_and_is_not_power(sheet: MeterInfo) -> None:
    found = readings(sheet, account(0, 0, 0), account(1, 5, 0), account(2, 1, 0), account(3, 7, 0))
    assert flags(found) == ["ok", "reset", "ok"]
    assert found[-1].power_w == pytest.approx(6)


SOUND = tuple(account(second, 5.0 * second, 0.5 * second) for second in range(3))


@fuzzed
@given(texts=disturbed(*SOUND))
def test_no_damage_passes_for_power(sheet: MeterInfo, texts: list[bytes]) -> None:
    none_is_wrong(DRIVER, sheet, texts)


def test_cut_answers_give_no_power(sheet: MeterInfo) -> None:
    none_passes_when_cut(DRIVER, sheet, SOUND[0], whole=SOUND[1].rstrip())


def chunks(*texts: bytes) -> list[Chunk]:
    return [Chunk(float(nth), text) for nth, text in enumerate(texts)]


def test_parts_of_a_span_are_interpolated_and_add_up() -> None:
    texts = account(0, 0, 0), account(1, 5, 0), account(2, 10, 4)
    found = parts_j(chunks(*texts), 1000.5, 1001.5)
    assert found == {"idle": pytest.approx(5), "seek": pytest.approx(2)}


@pytest.mark.parametrize("span", [(999.0, 1001.0), (1000.5, 1002.5)])
def test_parts_of_a_span_that_is_not_covered_are_not_guessed(span: tuple[float, float]) -> None:
    texts = account(0, 0, 0), account(1, 5, 0), account(2, 10, 4)
    assert parts_j(chunks(*texts), *span) == {}


def test_parts_over_a_change_of_disks_are_not_guessed() -> None:
    texts = account(0, 3, 3), account(1, 5, 4), account(2, 0, 0), account(3, 1, 1)
    assert parts_j(chunks(*texts), 1000.5, 1002.5) == {}
    assert parts_j(chunks(*texts), 1002.2, 1002.8)["idle"] == pytest.approx(0.6)


@given(
    moments=st.lists(st.integers(0, 9), min_size=2, max_size=6).map(sorted),
    grows=st.lists(st.integers(0, 10**6), min_size=6, max_size=6),
)
def test_parts_of_neighbouring_spans_add_up(moments: list[int], grows: list[int]) -> None:
    """Energy that two phases share or lose would be in neither's figures."""
    texts, sum_uj = [], 0
    for second, grown_uj in zip((0, 2, 3, 5, 8, 9), grows, strict=True):
        sum_uj += grown_uj
        texts.append(account(second, sum_uj / 1e6, sum_uj / 1e6))
    bounds = [1000.0 + moment for moment in moments]
    whole = parts_j(chunks(*texts), bounds[0], bounds[-1])
    pieces = [
        parts_j(chunks(*texts), start_s, end_s) for start_s, end_s in itertools.pairwise(bounds)
    ]
    for name, total_j in whole.items():
        assert sum(piece[name] for piece in pieces) == pytest.approx(total_j, abs=1e-9)


def test_a_running_disk_is_asked_and_its_absence_is_flagged(tmp_path: Path) -> None:
    def now(_: dict[str, Any]) -> bytes:
        now_s = time.monotonic()
        return account(now_s, 5 * now_s, 0)

    with serving(tmp_path / "control", now):
        meter = opened(DRIVER, control=str(tmp_path / "control"), rate_hz=50)
        meter.start()
        heard = answers(meter, 3)
    heard += answers(meter, 1)
    found = readings(meter.describe(), *(chunk.data for chunk in heard))
    assert flags(found) == ["ok", "ok", "absent"]
    assert found[1].power_w == pytest.approx(5, rel=1e-3)
    with pytest.raises(FsgreenError, match="does not answer"):
        meter.start()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "needs --testbed simdisk"),
        ({"control": "x", "rate_hz": 200}, "rate_hz: takes a number up to 100"),
        ({"control": "x", "parts": 1}, "unknown key parts"),
        ({"control": "/nonexistent/control"}, "does not answer"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(FsgreenError, match=message):
        opened(DRIVER, **settings)


def test_without_a_configuration_server_and_disk_are_metered(tmp_path: Path) -> None:
    """The simulator's own processor time must not be taken for the server's work."""
    control = tmp_path / "control"
    with serving(control, lambda _: account(0, 0, 0)):
        meters = open_meters(simdisk.tables(None, control), lambda: None)
        infos = {name: meter.describe() for name, meter in meters.items()}
        for meter in meters.values():
            meter.close()
    assert {name: info.covers for name, info in infos.items()} == {
        "system": ("server",),
        "disk": ("disk",),
    }
    assert "without the processor time of the simulated disk's server" in infos["system"].source
    assert str(tmp_path) not in json.dumps([dict(info.options) for info in infos.values()])


def test_meters_that_do_not_follow_the_disk_stay_as_they_are_asked_for(tmp_path: Path) -> None:
    wall = {"name": "wall", "driver": "wattsup", "port": "/dev/x"}
    asked = simdisk.tables([wall, simdisk.DISK], tmp_path)
    assert asked == [wall, {**simdisk.DISK, "control": str(tmp_path)}]
