"""What the tests of polled meters share: opening by settings, answers, and damaged answers."""

import os

from hypothesis import settings
from hypothesis import strategies as st

from fsgreen.meters.core.base import Chunk

FUZZ_S = float(os.environ.get("FSGREEN_FUZZ_S", "1"))
fuzzed = settings(max_examples=int(200 * FUZZ_S))

VALID = {"ok", "wrapped", "stale"}


def opened(driver, **table):
    """Open a meter by its entry of a testbed file."""
    entry = {"name": "meter", "driver": driver.name, **table}
    return driver.open(driver.settings.of(entry), lambda: None)


def answers(meter, count):
    """The next answers of a started meter."""
    chunks = []
    while len(chunks) < count:
        chunk = meter.read(1.0)
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def parsed(driver, info, *texts):
    """Readings of answers that come one a second, from second 1."""
    parser = driver.parser(info)
    return [
        reading
        for second, text in enumerate(texts, 1)
        for reading in parser.feed(Chunk(float(second), text))
    ]


def flags(readings):
    return [reading.quality for reading in readings]


def power(readings):
    return [reading.power_w for reading in readings]


def none_is_wrong(driver, info, texts):
    """Whatever the answers hold, a power is within the meter's range or flagged."""
    for reading in parsed(driver, info, *texts):
        if set(reading.quality.split("|")) <= VALID:
            assert 0 <= reading.power_w <= info.range_w
        if reading.power_w != reading.power_w:
            assert reading.quality != "ok"


def none_passes_when_cut(driver, info, *before, whole):
    """An answer that ends at any byte before its own end gives no power, and says so."""
    for end in range(len(whole)):
        reading = parsed(driver, info, *before, whole[:end])[-1]
        assert reading.power_w != reading.power_w
        assert reading.quality in ("cut", "missing")


@st.composite
def damaged(draw, sound):
    """An answer that was sound before something happened to it."""
    first = draw(st.integers(0, len(sound)))
    last = draw(st.integers(first, min(len(sound), first + 40)))
    middle = draw(st.one_of(st.just(b""), st.binary(max_size=8), st.just(sound[first:last] * 2)))
    return sound[:first] + middle + sound[last:]


def disturbed(*sound):
    """Some answers in a row: sound, damaged, or anything at all."""
    one = st.one_of(st.sampled_from(sound), *map(damaged, sound), st.binary(max_size=60))
    return st.lists(one, max_size=6)
