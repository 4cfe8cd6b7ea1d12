import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importing import damaged, fuzzed, reader, silent_energy_error, silent_errors

from fsgreen.errors import FsgreenError
from fsgreen.meters.energibridge import IMPORTER
from fsgreen.meters.files.energies import energy_of, sound_spans
from fsgreen.runs import import_runs
from fsgreen.runs.meanings import meanings_of

read = reader(IMPORTER, gain_error=0.05)

START_MS = 1_697_704_464_320
UNIT_J = 2.0**-14
WRAP_J = 2.0**18
STEP_MS = 204


def rust(value):
    """A number as Rust's `{}` writes a double: no exponent, no `.0`."""
    return f"{value:.20f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def csv(table, separator=","):
    """Rows of `table` (column: values) with the times that EnergiBridge gives them."""
    names = sorted(table)
    rows = len(table[names[0]])
    times = [START_MS] + [START_MS + 1 + STEP_MS * n for n in range(rows - 1)]
    waits = [0] + [STEP_MS] * (rows - 1)
    lines = [separator.join(["Delta", "Time", *names])]
    for nth in range(rows):
        values = [rust(table[name][nth]) for name in names]
        lines.append(separator.join([str(waits[nth]), str(times[nth]), *values]))
    return ("\n".join(lines) + "\n").encode()


def steps(rows=12):
    """Units counted in each interval: 20 to 40 W."""
    return [int((20 + 7 * (n % 4)) * STEP_MS / 1000 / UNIT_J) | 1 for n in range(rows)]


def counter(rows=12, start=100_000.0):
    """A register of 32 bits in units of 2**-14 J; the first row is read twice."""
    total, made = start, []
    for nth, units in enumerate(steps(rows)):
        made.append(total % WRAP_J)
        total += units * UNIT_J if nth else 0.0
    return made


def intel(**more):
    table = {
        "CPU_USAGE_0": [3.5] * 12,
        "DRAM_ENERGY (J)": counter(start=5.0),
        "PACKAGE_ENERGY (J)": counter(),
        "PP0_ENERGY (J)": counter(start=7.0),
        "USED_MEMORY": [10_188_488_704] * 12,
    }
    return table | more


POWER_W = [units * UNIT_J / STEP_MS * 1000 for units in steps()[1:-1]]
POWER_W = [POWER_W[0], *POWER_W]  # the first answer of a counter has the next one's
COUNTED_J = sum(steps()[1:-1]) * UNIT_J


def refused(data, **options):
    with pytest.raises(FsgreenError) as error:
        read(data, **options)
    assert error.value.next_step
    return str(error.value)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_power_is_the_counter_over_time(separator):
    imported = read(csv(intel(), separator))
    assert imported.readings.power_w.tolist() == pytest.approx(POWER_W)
    assert imported.readings[0].time_s == pytest.approx((START_MS + 1) / 1000)
    used_j = (imported.readings[-1].energy_wh - imported.readings[0].energy_wh) * 3600
    assert used_j == pytest.approx(COUNTED_J)
    assert not imported.readings.flags
    assert imported.info.boundary == "cpu"
    assert imported.info.rate_hz == pytest.approx(1000 / STEP_MS)
    decisions = " ".join(imported.decisions)
    assert "2**-14 J and wraps at 262144 J" in decisions
    assert "Left out: DRAM_ENERGY (J), PP0_ENERGY (J)" in decisions
    assert "first row was left out" in decisions


def test_rows_taken_at_one_time_are_told_as_many_as_they_are():
    header, first, *rest = csv(intel()).splitlines(keepends=True)
    delta, moment, *values = first.split(b",")
    earlier = b",".join([delta, b"%d" % (int(moment) - 1), *values])
    early = read(b"".join([header, earlier, first, *rest]))
    assert any("first 2 rows were left out" in decision for decision in early.decisions)


def test_counters_are_added_where_asked():
    both = read(csv(intel()), columns=["PACKAGE_ENERGY (J)", "DRAM_ENERGY (J)"])
    assert both.readings.power_w.tolist() == pytest.approx([2 * power for power in POWER_W])


def test_counter_that_wraps_goes_on():
    imported = read(csv(intel(**{"PACKAGE_ENERGY (J)": counter(start=WRAP_J - 20)})))
    assert imported.readings.power_w.tolist() == pytest.approx(POWER_W)
    assert list(imported.readings.flags.values()) == ["wrapped"]
    used_j = (imported.readings[-1].energy_wh - imported.readings[0].energy_wh) * 3600
    assert used_j == pytest.approx(COUNTED_J)


def test_counter_that_goes_back_gives_no_power():
    values = counter()
    values[6:] = [value - 50_000 for value in values[6:]]
    imported = read(csv(intel(**{"PACKAGE_ENERGY (J)": values})))
    assert imported.readings.flags == {5: "reset"}
    assert math.isnan(imported.readings[5].power_w)


@pytest.mark.parametrize(
    ("column", "boundary"), [("CPU_POWER (Watts)", "cpu"), ("SYSTEM_POWER (Watts)", "dc-rail")]
)
def test_power_of_apple_is_read_as_it_is(column, boundary):
    imported = read(csv({column: [11.580_332_756 + n for n in range(12)], "USED_SWAP": [0] * 12}))
    assert imported.readings.power_w.tolist() == pytest.approx(
        [11.580_332_756 + n for n in range(1, 12)]
    )
    assert imported.info.boundary == boundary


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("PACAKGE_ENERGY (J)", "before 0.0.5"),
        ("PACKAGE_ENERGY (W)", "before 0.0.5"),
        ("CPU_USAGE_1", "no power and no energy"),
    ],
)
def test_columns_of_other_versions_are_refused_by_name(name, message):
    assert message in refused(csv({name: counter()}))


def test_counter_that_was_scaled_wrongly_is_refused():
    values = [value / 1e6 for value in counter()]
    assert "before 0.0.7" in refused(csv(intel(**{"PACKAGE_ENERGY (J)": values})))


def test_counter_that_never_moves_is_refused():
    assert "never moves" in refused(csv(intel(**{"PACKAGE_ENERGY (J)": [0.0] * 12})))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["PACKAGE_ENERGY (J)", "PP0_ENERGY (J)"], "count twice"),
        (["PACKAGE_ENERGY (J)", "PACKAGE_ENERGY (J)"], "cannot be added"),
        (["PACKAGE_ENERGY (J)", "GPU_POWER (Watts)"], "cannot be added"),
        (["GPU0_POWER (mWatts)"], "no column GPU0_POWER"),
    ],
)
def test_columns_that_do_not_add_up_are_refused(columns, message):
    data = csv(intel(**{"GPU_POWER (Watts)": [5.5] * 12}))
    assert message in refused(data, columns=columns)


def test_missing_rows_are_flagged_and_what_the_command_printed_is_told():
    lines = csv(intel()).splitlines(keepends=True)
    lost = read(b"".join(lines[:6] + lines[7:]))
    assert list(lost.readings.flags.values()) == ["lost"]
    printed = read(b"".join([*lines[:6], b"hello, world\n", *lines[6:]]) + b"Energy: 5\n")
    assert printed.readings.power_w.tolist() == pytest.approx(POWER_W)
    assert any("line 7, line 15" in sentence for sentence in printed.decisions)


@pytest.mark.parametrize(
    ("new", "flag"),
    [("NaN", "missing"), ("", "missing"), ("1e5", "bad-number"), ("100005.3", "bad-number")],
)
def test_damaged_counter_is_flagged(new, flag):
    lines = csv(intel()).decode().splitlines(keepends=True)
    cells = lines[6].split(",")
    cells[4] = new
    lines[6] = ",".join(cells)
    imported = read("".join(lines).encode())
    assert flag in imported.readings[4].quality
    assert "missing" in imported.readings[5].quality


def test_power_beyond_the_range_is_flagged():
    assert "over-range" in read(csv(intel()), range_w=25).readings.flags.values()


@pytest.mark.parametrize(
    "data", [b"", b"Delta,Time\n", b"a,b\n", b"Delta,Time,CPU_POWER (Watts)\n"]
)
def test_what_is_no_file_of_energibridge_is_refused(data):
    refused(data)


def test_accuracy_is_never_guessed():
    with pytest.raises(FsgreenError, match="gain_error"):
        reader(IMPORTER)(csv(intel()))


SMALL = csv({"PACKAGE_ENERGY (J)": counter(6)})


def test_file_cut_at_any_byte_is_refused_or_a_flagged_beginning():
    sound = read(SMALL)
    for end in range(len(SMALL)):
        assert not silent_errors(read, SMALL[:end], sound)


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(st.text(alphabet="0123456789,.-\n\rNa", max_size=200))
@fuzzed
def test_arbitrary_rows_below_a_sound_header_never_crash(text):
    try:
        read(f"Delta,Time,PACKAGE_ENERGY (J)\n{text}".encode())
    except FsgreenError as error:
        assert error.next_step


@given(st.data())
@fuzzed
def test_damage_is_refused_or_flagged_never_another_number(data):
    rows = csv({"PACKAGE_ENERGY (J)": counter(), "CPU_USAGE_0": [3.5] * 12})
    hurt = data.draw(damaged(rows, whole_cells=True))
    assert silent_energy_error(read, hurt, read(rows)) <= 1e-9


def test_a_trace_and_the_run_that_it_is_have_one_energy(tmp_path):
    """The first interval was in the run's energy and not in the trace's: 18.64 J and 16.99 J."""
    file = tmp_path / "trace.csv"
    file.write_bytes(csv(intel()))
    (run,) = import_runs([file], meanings_of([]), boundary="cpu").runs.to_dict("records")
    said = energy_of(read(csv(intel())))
    assert said.counter_energy_j == pytest.approx(run["energy_j"])
    assert said.energy_j == pytest.approx(run["energy_j"], rel=1e-9)


@pytest.mark.parametrize(
    ("column", "first", "step", "place"),
    [
        ("SYSTEM_POWER (Watts)", 11.25, 1.5, 10),
        ("PACKAGE_ENERGY (J)", 100.25, 4.25, 19),
    ],
)
def test_a_value_that_lost_its_point_is_part_of_no_energy(column, first, step, place):
    """A reading of kilowatts was flagged, and was most of the energy all the same."""
    values = [first + step * max(0, nth - 1) + nth % 3 / 2 for nth in range(20)]
    sound = energy_of(read(csv({column: values, "USED_SWAP": [0] * 20})))
    lines = csv({column: values, "USED_SWAP": [0] * 20}).decode().splitlines(keepends=True)
    cells = lines[place + 1].split(",")
    lines[place + 1] = ",".join([*cells[:2], cells[2].replace(".", ""), *cells[3:]])
    hurt = read("".join(lines).encode())
    said = energy_of(hurt)
    assert math.isnan(said.energy_j) and math.isnan(said.budget.total_j)
    assert said.flaws[0].name == "untrue" and "marked over-range" in said.flaws[0].detail
    assert f": line {place + 2} (" in next(told for told in hurt.decisions if "over-range" in told)
    begin_s, end_s = max(sound_spans(hurt), key=lambda span: span[1] - span[0])
    start_s = hurt.readings.time_s[0]
    part = energy_of(hurt, (start_s + begin_s, start_s + end_s))
    assert 0 < part.energy_j < sound.energy_j and part.budget.total_j < part.energy_j
    assert not part.flaws


def test_a_last_line_that_was_cut_inside_its_time_marks_the_one_before():
    text = csv(intel())
    last = text[:-1].rindex(b"\n") + 1
    assert read(text[: last + 10]).readings.flags == {9: "cut"}


@given(st.lists(st.integers(40_000, 120_000), min_size=3, max_size=12), st.integers(0, 2**30))
@fuzzed
def test_no_sound_value_of_a_short_run_is_called_damaged(units, begin):
    """Two values of four may be whole by chance in coarser units than the register's."""
    total = [begin * UNIT_J, begin * UNIT_J]
    for each in units:
        total.append(total[-1] + each * UNIT_J)
    assert not read(
        csv({"CPU_USAGE_0": [1.5] * len(total), "PACKAGE_ENERGY (J)": total})
    ).readings.flags
