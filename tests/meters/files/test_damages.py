"""Files as transport, spreadsheets and hung loggers leave them: an energy is right, or flagged."""

import os
import random
import re
from datetime import datetime, timedelta

import hobo_texts
import numpy as np
import pytest
import test_energibridge
import test_ptdaemon
import test_quarch
from importing import reader

from fsgreen.errors import FsgreenError
from fsgreen.meters.core import registry
from fsgreen.meters.files.energies import energy_of
from fsgreen.trace import REMARKS
from tests.meters.wattsup_texts import HEADER, record

CASES = max(24, round(14 * float(os.environ.get("FSGREEN_FUZZ_S", "1"))))
"""For each of seven formats: 448 by night."""

ROWS = 150


def powers(seed=7):
    """A load in steps, with the noise that a real one has."""
    rng = random.Random(seed)
    level, made = 80.0, []
    for nth in range(ROWS):
        if nth % 37 == 0:
            level = rng.choice([45.3, 80.7, 140.2, 95.9])
        made.append(level * (1 + rng.gauss(0, 0.02)))
    return made


def hoboware():
    start, made, energy_wh = datetime(2010, 1, 31, 23, 58), [], 0.0
    for nth, watts in enumerate(powers()):
        volts, factor = 119.5 + 0.1 * (nth % 7), 0.971
        energy_wh += watts / 3600
        values = (volts, watts / factor / volts, watts, energy_wh, watts / factor, factor)
        made.append((start + timedelta(seconds=nth), values))
    return hobo_texts.write(hobo_texts.Style(details=False), made)


def ptdaemon():
    start = datetime(2021, 1, 22, 15, 5, 14, 313000)
    return test_ptdaemon.log(
        [
            (start + timedelta(milliseconds=1004 * nth), w, 227.37, w / 0.4944 / 227.37, 0.4944)
            for nth, w in enumerate(powers())
        ]
    )


def energibridge():
    units = [int(w * test_energibridge.STEP_MS / 1000 / test_energibridge.UNIT_J) for w in powers()]
    total, counted, usage = 5000.0, [], []
    for nth, each in enumerate(units):
        counted.append(total)
        total += each * test_energibridge.UNIT_J if nth else 0.0
        usage.append(3.25 + nth * 0.125)
    return test_energibridge.csv({"PACKAGE_ENERGY (J)": counted, "CPU_USAGE_0": usage})


def quarch():
    rows = []
    for nth, watts in enumerate(powers()):
        volts, amps = 5.02 + 0.001 * (nth % 5), 0.4 * watts / 5.02 / 10
        five_uw = round(1e6 * volts * amps)
        rows.append([100 * nth, round(1e3 * volts), round(1e6 * amps), five_uw, five_uw])
    header = "Time uS,5V voltage mV,5V current uA,5V power uW,Tot uW"
    return test_quarch.csv(rows, header)


def dump():
    lines = ["marker time dt_micro device_timestamp current0 voltage0 power0 power_total"]
    levels = [round(watts / 3) for watts in powers()]
    for nth in range(10 * ROWS):
        amps = (levels[nth // 10] + nth % 2) * 3.3 / 1023 / 0.12
        stamp, watts = nth * 50 % 1024, f"{12 * amps:.6f}"
        time = f"{1.7e9 + 5e-5 * nth:.6f} {50 if nth else 0}"
        lines.append(f"S {time} {stamp} {amps:.6f} 12.000000 {watts} {watts}")
    return ("\n".join(lines) + "\n").encode()


def table():
    lines = ["when,watts,volts,amps"]
    for nth, watts in enumerate(powers()):
        volts = 230.1 + 0.1 * (nth % 4)
        stamp = f"2026-08-17 12:{nth // 60:02d}:{nth % 60:02d}"
        lines.append(f"{stamp},{watts:.2f},{volts:.1f},{watts / volts:.4f}")
    return ("\n".join(lines) + "\n").encode()


def wattsup():
    """Whole records a second; the counts of watts, volts, amperes and VA agree."""
    made, energy_wh = [HEADER], 0.0
    for nth, watts in enumerate(powers()):
        volts, energy_wh = 119.5 + 0.1 * (nth % 7), energy_wh + watts / 3600
        values = {"W": 10 * watts, "V": 10 * volts, "WH": 10 * energy_wh}
        values |= {"A": 1000 * watts / 0.97 / volts, "VA": 10 * watts / 0.97}
        made.append(record(**{name: f"{value:.0f}" for name, value in values.items()}))
    return "".join(made).encode()


ACCURACY = {"gain_error": 0.002}
DECLARED = {"time": "when", "power": "watts in W", "voltage": "volts", "current": "amps"}
FORMATS = {
    "hoboware": (hoboware, ACCURACY),
    "ptdaemon": (ptdaemon, {**ACCURACY, "gmt_offset": "+00:00"}),
    "energibridge": (energibridge, ACCURACY),
    "quarch": (quarch, ACCURACY),
    "powersensor3-dump": (
        dump,
        {**ACCURACY, "constant_error_w": 0.01, "range_w": 165.0, "source": "bench"},
    ),
    "wattsup-bytes": (wattsup, {}),
    "table": (table, {**ACCURACY, **DECLARED, "boundary": "wall", "gmt_offset": "+00:00"}),
}

NUMBER = re.compile(rb"(?<=[,;\t ])(\d+)\.(\d+)(?=[,;\t\r\n ])")
CELL = re.compile(rb"(?<=[,;\t ])\d+(?:\.\d+)?(?=[,;\t\r\n ])")


def lose_marks(draw, lines):
    for place in draw.sample(range(5, len(lines)), draw.choice([1, 3, 10, 40])):
        found = list(NUMBER.finditer(lines[place]))
        if found:
            match = draw.choice(found)
            whole = match[1] + match[2]
            lines[place] = lines[place][: match.start()] + whole + lines[place][match.end() :]
    return lines


def lose_rows(draw, lines):
    first = draw.randrange(3, len(lines) - 12)
    return lines[:first] + lines[first + draw.choice([1, 2, 10]) :]


def repeat_rows(draw, lines):
    first = draw.randrange(3, len(lines) - 12)
    return lines[: first + draw.choice([1, 3, 9])] + lines[first:]


def swap_rows(draw, lines):
    first = draw.randrange(3, len(lines) - 3)
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    return lines


def lose_line_ends(draw, lines):
    for place in draw.sample(range(3, len(lines) - 2), draw.choice([1, 2])):
        lines[place] = lines[place].rstrip(b"\r\n")
    return lines


def cut_the_end(draw, lines):
    data = b"".join(lines)
    return [data[: draw.randrange(len(data) // 3, len(data))]]


def blank_cells(draw, lines):
    for place in draw.sample(range(5, len(lines)), draw.choice([1, 4])):
        found = list(CELL.finditer(lines[place]))
        if found:
            match = draw.choice(found)
            lines[place] = lines[place][: match.start()] + lines[place][match.end() :]
    return lines


def spoil_bytes(draw, lines):
    data = bytearray(b"".join(lines))
    for _ in range(draw.choice([1, 5])):
        place = draw.randrange(len(lines[0]) + 2, len(data))
        data[place : place + draw.choice([0, 1])] = draw.choice([b"\0", b"x", b"?", b"\xff", b"-"])
    return [bytes(data)]


def freeze(draw, lines):
    """A logger that hangs: its time goes on, and the rest of each row is the row's before."""
    first = draw.randrange(20, len(lines) - 20)
    mark = b"," if b"," in lines[first] else b" "
    cells = lines[first].split(mark)
    stamps = next((n for n, cell in enumerate(cells) if b":" in cell), 0 if mark == b"," else 3)
    length = draw.randrange(5, 25) * max(1, len(lines) // ROWS)
    for place in range(first + 1, min(first + 1 + length, len(lines))):
        row = lines[place].split(mark)
        if len(row) == len(cells):
            lines[place] = mark.join([*row[: stamps + 1], *cells[stamps + 1 :]])
    return lines


def move_rows(draw, lines):
    first, to = draw.randrange(3, len(lines) - 20), draw.randrange(3, len(lines) - 20)
    block = lines[first : first + 5]
    rest = lines[:first] + lines[first + 5 :]
    return rest[:to] + block + rest[to:]


DAMAGES = (
    lose_marks,
    lose_rows,
    repeat_rows,
    swap_rows,
    lose_line_ends,
    cut_the_end,
    blank_cells,
    spoil_bytes,
    freeze,
    move_rows,
)

OF_TIMES = (lose_rows, repeat_rows, swap_rows, move_rows)
"""What a format without times cannot show, as its reader says of every file."""


def true_j(sound, start_s, end_s):
    time_s, power_w = sound.readings.time_s, sound.readings.power_w
    if sound.means:
        counted_j = np.cumsum(np.append(0.0, power_w[1:] * np.diff(time_s)))
        return float(np.diff(np.interp([start_s, end_s], time_s, counted_j))[0])
    inside = (time_s > start_s) & (time_s < end_s)
    grid_s = np.concatenate(([start_s], time_s[inside], [end_s]))
    return float(np.trapezoid(np.interp(grid_s, time_s, power_w), grid_s))


@pytest.mark.parametrize("name", FORMATS)
def test_no_damage_leaves_an_energy_beyond_its_limits_without_a_flag(name):
    make, settings = FORMATS[name]
    read = reader(registry.importer(name), **settings)
    data = make()
    sound = read(data)
    assert not set(sound.readings.flags.values()) - REMARKS
    damages = [how for how in DAMAGES if name != "wattsup-bytes" or how not in OF_TIMES]
    wrong, unflagged = [], 0
    for case in range(CASES):
        draw = random.Random(f"{name} {case}")
        lines = data.splitlines(keepends=True)
        how = damages[case % len(damages)]
        hurt = b"".join(how(draw, lines))
        if case % 3 == 2:
            hurt = b"".join(draw.choice(damages)(draw, hurt.splitlines(keepends=True)))
        try:
            imported = read(hurt)
            said = energy_of(imported)
        except FsgreenError as error:
            assert error.next_step
            continue
        flagged = set("|".join(imported.readings.flags.values()).split("|")) - REMARKS - {""}
        if flagged or said.flaws:
            continue
        unflagged += 1
        time_s = imported.readings.time_s
        error_j = abs(said.energy_j - true_j(sound, time_s[0], time_s[-1]))
        if not error_j <= said.budget.total_j:
            wrong.append((case, how.__name__, error_j, said.budget.total_j))
    assert not wrong, wrong
    assert unflagged < CASES, "no damage was seen at all"
