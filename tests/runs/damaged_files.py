"""What the tests of readers of runs share: reading bytes, faults of transport, an oracle."""

import os

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.meters.files.text import Report
from fsgreen.runs.meanings import UNITS, meanings_of

EXAMPLES = int(100 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1"))))
fuzzed = hypothesis_settings(max_examples=EXAMPLES)

OUTPUTS = paths.root() / "tests" / "runs" / "outputs"
"""What fio 3.33 and Filebench 1.5-alpha3 wrote when they were run for these tests."""

QUANTITIES = {column for column, _ in UNITS.values()}


def read(form, data, *maps):
    """The runs of bytes."""
    return form.read(data, meanings_of(list(maps)), Report("file"))


def told(form, data, *maps):
    """What a reader decided."""
    report = Report("file")
    form.read(data, meanings_of(list(maps)), report)
    return " ".join(report.decisions)


@st.composite
def damaged(draw, sound, stray=b'\0;,. \t"\n\rx-:<{}'):
    """Sound bytes with a few parts lost, doubled or put in; no digit becomes another."""
    data = sound
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        length = draw(st.integers(1, 60))
        how = draw(st.integers(0, 4))
        lines = data.splitlines(keepends=True)
        nth = draw(st.integers(0, max(len(lines) - 1, 0)))
        if how == 0:
            data = data[:place] + data[place + length :]
        elif how == 1:
            data = data[:place] + data[place : place + length] + data[place:]
        elif how == 2:
            data = data[:place] + bytes([draw(st.sampled_from(list(stray)))]) + data[place:]
        elif how == 3:
            data = b"".join(lines[:nth] + lines[nth + 1 :])
        else:
            data = b"".join(lines[: nth + 1] + lines[nth:])
    return data


def wrong_numbers(form, data, sound, *maps, within=0.02):
    """Quantities of damaged bytes that no run of the sound ones has; [] if they are refused."""
    try:
        runs = read(form, data, *maps)
    except FsgreenError as error:
        assert error.next_step
        return []
    true = {
        column: [run.values[column] for run in sound if column in run.values]
        for column in QUANTITIES
    }
    return [
        (column, run.values[column])
        for run in runs
        for column in QUANTITIES & set(run.values)
        if run.values[column] == run.values[column]
        and not any(abs(run.values[column] - t) <= within * abs(t) for t in true[column])
    ]
