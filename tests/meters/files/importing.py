"""What the tests of all importers share: reading, damage, and what damage may do."""

import math
import os
import re

import numpy as np
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError

EXAMPLES = int(100 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1"))))
fuzzed = hypothesis_settings(max_examples=EXAMPLES)

REMARKS = {"ok", "wrapped"}


def reader(importer, **defaults):
    """A function that reads bytes with settings."""

    def read(data, **options):
        table = {**defaults, **options, "name": "file", "driver": importer.name}
        return importer.read(data, importer.settings.of(table))

    return read


@st.composite
def damaged(draw, sound, *, whole_cells=False, other=b'\0;,. \t"\n\rx-'):
    """Sound bytes with a few faults of transport: cuts, doubled and moved parts, stray bytes.

    No digit becomes another, and with `whole_cells` none is lost or doubled: that can be seen
    only where quantities depend on each other.
    """
    data = sound
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data) - 1))
        length = draw(st.integers(1, 60))
        if whole_cells:
            ends = [match.start() for match in re.finditer(rb"[,\n]", data)]
            place = min(ends, key=lambda end: abs(end - place), default=0)
            length = next((end - place for end in ends if end >= place + length), len(data))
        how = draw(st.integers(0, 5))
        if how == 0:
            data = data[:place] + data[place + length :]
        elif how == 1:
            data = data[:place] + data[place : place + length] + data[place:]
        elif how == 2:
            stray = draw(st.sampled_from([other[n : n + 1] for n in range(len(other))]))
            data = data[:place] + stray + data[place:]
        elif how == 3:
            data = data[:place]
        elif how == 4:
            lines = data.splitlines(keepends=True)
            nth = draw(st.integers(0, len(lines) - 1))
            data = b"".join(lines[:nth] + lines[nth + 1 :])
        else:
            lines = data.splitlines(keepends=True)
            nth = draw(st.integers(0, len(lines) - 1))
            data = b"".join(lines[: nth + 1] + lines[nth:])
        if not data:
            break
    return data


def silent_errors(read, data, sound, within_w=0.0):
    """Readings of damaged bytes that are none of the sound file's, and nothing says so.

    What says so is a flag on the reading, or on the next: where two rows ran into one, the gap
    after it does. [] if the file is refused.
    """
    try:
        readings = list(read(data).readings)
    except FsgreenError as error:
        assert error.next_step
        return []
    true = {round(r.time_s, 6): r.power_w for r in sound.readings}
    flagged = [bool(set(r.quality.split("|")) - REMARKS) for r in readings] + [False]
    return [
        reading
        for nth, reading in enumerate(readings)
        if not (flagged[nth] or flagged[nth + 1])
        and not abs(true.get(round(reading.time_s, 6), math.nan) - reading.power_w) <= within_w
    ]


def silent_energy_error(read, data, sound):
    """The relative error of the energy of damaged bytes that bear no flag; 0 if refused."""
    try:
        result = read(data)
    except FsgreenError as error:
        assert error.next_step
        return 0.0
    if any(set(flag.split("|")) - REMARKS for flag in result.readings.flags.values()):
        return 0.0
    span = result.readings.time_s
    true_s, true_w = sound.readings.time_s, sound.readings.power_w
    assert set(span) <= set(true_s)
    inside = (true_s > span[0]) & (true_s <= span[-1])
    true_j = float((true_w * np.diff(true_s, prepend=np.nan))[inside].sum())
    read_j = float((result.readings.power_w[1:] * np.diff(span)).sum())
    return abs(read_j - true_j) / true_j
