"""A simulated disk behind a block stream: 10,000 samples a second, and no joule lost."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simdisks import drawn_fj, line, serving

from fsgreen.errors import FsgreenError
from fsgreen.meters import Chunk, Meter, Readings, open_meters, simdisk
from fsgreen.meters.blocks import disk
from fsgreen.meters.blocks.disk import CHANNEL, INTERVAL_NS, MAX_COUNT, STEP_FJ, Sampler
from fsgreen.meters.blocks.format import Samples, blocks_of
from fsgreen.meters.blocks.parser import BlockParser
from fsgreen.simdisk.power import PowerTrace
from tests.patience import leaves_nothing, listen

ENTRY = {"name": "disk", "driver": "blocks", "emulate": True, "profile": "simdisk"}
BUSY_NS, IDLE_NS = 777_777, 1_234_567
BUSY_UW, IDLE_UW = 1_375_003, 150_000
BEGIN_NS = 10**15 + 12_345


def trace(since_ns: int, until_ns: int) -> PowerTrace:
    """The power of a disk that is busy and idle by turns."""
    times_ns: list[int] = []
    power_uw: list[int] = []
    at_ns = since_ns - since_ns % (BUSY_NS + IDLE_NS)
    while at_ns <= until_ns:
        times_ns += [at_ns, at_ns + BUSY_NS]
        power_uw += [BUSY_UW, IDLE_UW]
        at_ns += BUSY_NS + IDLE_NS
    begun, known = bisect_right(times_ns, since_ns) - 1, bisect_right(times_ns, until_ns)
    return PowerTrace(times_ns[begun:known], power_uw[begun:known], until_ns)


def answer(question: dict[str, Any]) -> bytes:
    now_ns = time.monotonic_ns()
    told = trace(question["since_ns"] or now_ns, now_ns)
    return line(ok=True, **vars(told))


@contextmanager
def opened(control: Path) -> Iterator[Meter]:
    (meter,) = open_meters(simdisk.tables([ENTRY], control), lambda: None).values()
    with closing(meter):
        yield meter


class Tapped(BlockParser):
    """A parser that keeps the bytes that it was fed with."""

    data = b""

    def feed(self, chunk: Chunk) -> Readings:
        self.data += chunk.data
        return super().feed(chunk)


@given(pauses_ns=st.lists(st.integers(0, 3_000_000), min_size=1, max_size=20))
def test_samples_hold_all_energy_however_often_the_disk_is_asked(pauses_ns: list[int]) -> None:
    asked, until_ns = Sampler(BEGIN_NS), BEGIN_NS
    parts: list[Samples] = []
    for pause_ns in pauses_ns:
        until_ns += pause_ns
        parts.append(asked.samples(trace(asked.end_ns, until_ns)))
    whole = Sampler(BEGIN_NS)
    samples = whole.samples(trace(BEGIN_NS, until_ns))
    assert np.concatenate(parts).tolist() == samples.tolist()
    assert whole.end_ns == asked.end_ns <= until_ns < whole.end_ns + INTERVAL_NS
    sum_j = float((CHANNEL.gain * samples + CHANNEL.offset).sum()) * INTERVAL_NS * 1e-9
    drawn_j = drawn_fj(trace(BEGIN_NS, until_ns), BEGIN_NS, whole.end_ns) * 1e-15
    assert abs(sum_j - drawn_j) <= STEP_FJ * 1e-15 / 2 + 1e-12


def test_a_disk_that_was_not_asked_for_long_is_sent_in_turns_and_clips() -> None:
    """More femtojoules than 64 bits hold would be any power at all."""
    sampler = Sampler(BEGIN_NS)
    long = PowerTrace([0, BEGIN_NS + 4 * 10**9], [10**9 - 1, 0], BEGIN_NS + 10**13)
    first = sampler.samples(long)
    assert len(first) == MAX_COUNT
    assert sampler.end_ns == BEGIN_NS + MAX_COUNT * INTERVAL_NS
    assert set(first[:40_000, 0]) == {CHANNEL.high}
    assert set(CHANNEL.gain * first[40_000:, 0] + CHANNEL.offset) == {0.0}
    assert set(sampler.samples(long)[:, 0]) == {first[-1, 0]}


def test_a_disk_is_read_as_a_sensor_on_its_rail(tmp_path: Path) -> None:
    control = tmp_path / "control"
    with leaves_nothing(), serving(control, answer), opened(control) as meter:
        info = meter.describe()
        assert (info.boundary, info.covers, info.rate_hz) == ("modelled", ("disk",), 10_000)
        assert (info.serial, info.gain_error, info.constant_error_w) == ("emulated-disk", 0, 0)
        assert "the simulated disk's own power" in info.source
        meter.start()
        parser = Tapped(info)
        readings = listen(meter, parser, until=lambda readings: len(readings) > 5000)
    blocks, _ = blocks_of(parser.data)
    begin_ns = blocks[0].t0_ns - INTERVAL_NS // 2
    count = sum(len(block.samples) for block in blocks)
    end_ns = begin_ns + count * INTERVAL_NS
    assert not readings.flags
    assert len(readings) == count
    drawn_j = drawn_fj(trace(begin_ns, end_ns), begin_ns, end_ns) * 1e-15
    sum_j = float(readings.power_w.sum()) * INTERVAL_NS * 1e-9
    assert abs(sum_j - drawn_j) <= STEP_FJ * 1e-15 + 1e-12
    least_w, most_w = readings.power_w.min(), readings.power_w.max()
    assert (least_w, most_w) == pytest.approx((IDLE_UW * 1e-6, BUSY_UW * 1e-6), abs=CHANNEL.gain)


def has_mark(readings: Readings) -> bool:
    return any("clipped" in flag for flag in readings.flags.values())


def ends_sound(readings: Readings) -> bool:
    return len(readings) > 0 and len(readings) - 1 not in readings.flags


def test_samples_are_marked_while_a_disk_is_changed_for_another(tmp_path: Path) -> None:
    """A cell may have another disk, which is served after the capture of its trial has begun."""
    control = tmp_path / "control"
    with leaves_nothing(), ExitStack() as stack:
        with serving(control, answer):
            meter = stack.enter_context(opened(control))
            parser = BlockParser(meter.describe())
            meter.start()
            assert not listen(meter, parser, until=ends_sound).flags
        changing = listen(meter, parser, until=has_mark)
        with serving(control, answer):
            changed = listen(meter, parser, until=ends_sound)
        readings = Readings.joined([changing, changed])
        assert set(readings.flags.values()) == {"clipped|negative"}
        meter.stop()
        with pytest.raises(FsgreenError, match="the simulated disk does not answer"):
            meter.start()
        with serving(control, answer):
            meter.start()
            assert not listen(meter, BlockParser(meter.describe()), until=ends_sound).flags
            meter.close()


def test_a_refusal_that_passed_is_not_told_as_the_cause_of_a_later_failure(tmp_path: Path) -> None:
    """Who reads that no disk answers would look at a disk that answers."""
    control = tmp_path / "control"
    with leaves_nothing(), ExitStack() as stack:
        with serving(control, answer):
            meter: Any = stack.enter_context(opened(control))
            parser = BlockParser(meter.describe())
            meter.start()
            listen(meter, parser, until=ends_sound)
        listen(meter, parser, until=has_mark)
        with serving(control, answer):
            listen(meter, parser, until=ends_sound)
            meter.emulator.__exit__()
            with pytest.raises(FsgreenError, match="the sender vanished: it hung up"):
                listen(meter, parser, until=has_mark)
            meter.start()
            assert not listen(meter, BlockParser(meter.describe()), until=ends_sound).flags


def test_samples_are_marked_while_a_server_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It overwrites an SSD for longer than a meter may be silent."""
    monkeypatch.setattr(disk, "LATE_S", 0.05)
    free = threading.Event()
    free.set()

    def answer_when_free(question: dict[str, Any]) -> bytes:
        free.wait()
        return answer(question)

    control = tmp_path / "control"
    with leaves_nothing(), serving(control, answer_when_free), opened(control) as meter:
        parser = BlockParser(meter.describe())
        meter.start()
        listen(meter, parser, until=ends_sound)
        free.clear()
        held = listen(meter, parser, until=has_mark)
        free.set()
        after = listen(meter, parser, until=ends_sound)
    assert np.diff(Readings.joined([held, after]).time_s).max() < 2e-4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "needs --testbed simdisk"),
        ({"driver": "wattsup", "control": "x"}, "wattsup cannot show a simulated disk"),
        ({"control": "/nonexistent/control"}, "the simulated disk does not answer"),
    ],
)
def test_a_disk_that_cannot_be_shown_is_told(settings: dict[str, Any], message: str) -> None:
    with leaves_nothing(), pytest.raises(FsgreenError, match=message):
        open_meters([ENTRY | settings], lambda: None)
