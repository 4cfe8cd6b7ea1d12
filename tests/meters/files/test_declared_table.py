"""Tables of other programs: what is declared is read, and nothing about it is guessed."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importing import damaged, fuzzed, silent_errors
from tables_of_programs import ENERGIES_J, FILES, POWERS, STAMPED, TRAPEZOID_J, lines

from fsgreen.errors import FsgreenError
from fsgreen.meters.core import registry
from fsgreen.meters.files.energies import energy_of
from fsgreen.meters.files.importing import import_file
from fsgreen.meters.table.declared import TableSettings
from fsgreen.meters.table.driver import recipes


def read(text, driver="table", **options):
    importer = registry.importer(driver)
    data = text if isinstance(text, bytes) else text.encode()
    given = {"gain_error": 0.05, **options, "name": "file", "driver": driver}
    return importer.read(data, importer.settings.of(given))


def refused(text, **options):
    with pytest.raises(FsgreenError) as error:
        read(text, **options)
    assert error.value.next_step
    return str(error.value)


def test_every_recipe_has_a_file_here():
    assert FILES.keys() == recipes().keys()


@pytest.mark.parametrize("recipe", FILES)
def test_every_recipe_reads_its_program_s_file_with_its_energy(recipe):
    imported = read(FILES[recipe], recipe)
    said = energy_of(imported)
    assert not imported.readings.flags
    expected_j = ENERGIES_J[recipe]
    rounded_j = 0.01 * expected_j if expected_j == TRAPEZOID_J else said.budget.quantisation_j
    assert said.energy_j == pytest.approx(expected_j, abs=rounded_j)
    assert imported.means == (expected_j != TRAPEZOID_J)
    if recipe in ("perf-stat", "perf-stat-x", "codecarbon", "shelly-em"):
        assert said.counter_energy_j == pytest.approx(expected_j, rel=1e-4)
    assert imported.info.driver == recipe
    assert imported.decisions


CSV = lines([f"{s},{p},230.5" for s, p in STAMPED], "when,mine,volts")
DECLARED = {"time": "when", "power": "mine", "unit": "W", "boundary": "wall"}


def test_a_table_is_read_by_the_columns_that_are_named():
    imported = read(CSV, **DECLARED, voltage="volts", gmt_offset="+02:00")
    assert imported.readings.power_w.tolist() == POWERS
    assert imported.readings.voltage_v.tolist() == [230.5] * len(POWERS)
    assert imported.readings.time_s[0] == 1786960800
    assert (imported.info.boundary, imported.info.gain_error) == ("wall", 0.05)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_may_be_numbers_and_units_others(separator):
    rows = [f"{n}{separator}{p * 1000:.0f}" for n, p in enumerate(POWERS)]
    options = {"time": 1, "time_unit": "s", "power": "2 in mW", "boundary": "dc-rail"}
    assert read(lines(rows), **options).readings.power_w.tolist() == pytest.approx(POWERS)


def test_several_columns_of_power_are_added():
    rows = [f"{n},{p - 2:.2f},2.0" for n, p in enumerate(POWERS)]
    options = {"time": "t", "time_unit": "s", "power": ["a", "b"], "unit": "W", "boundary": "cpu"}
    assert read(lines(rows, "t,a,b"), **options).readings.power_w.tolist() == POWERS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"power": "watts"}, "no line names the columns watts"),
        ({"unit": "HP"}, "power is in HP, not in W"),
        ({"time": ()}, "name the column of the time"),
        ({"lines": "("}, "no regular expression"),
        ({"only": ["x"]}, "no condition"),
        ({"colour": "red"}, "unknown key colour"),
    ],
)
def test_a_wrong_declaration_is_named(changes, message):
    assert message in refused(CSV, **{**DECLARED, **changes})


def test_neither_unit_boundary_nor_accuracy_is_guessed():
    for key in ("unit", "boundary"):
        options = {name: value for name, value in DECLARED.items() if name != key}
        assert key in refused(CSV, **options)
    with pytest.raises(FsgreenError, match="gain_error"):
        TableSettings.of({**DECLARED, "name": "f", "driver": "table"})


def test_a_point_that_may_divide_thousands_is_refused_with_both():
    """1.234 W in one country are 1234 W in another."""
    rows = [f"{stamp},{1.234 + n / 10:.3f}" for n, (stamp, _) in enumerate(STAMPED)]
    message = refused(lines(rows, "when,mine"), **DECLARED)
    assert "1.234 may be 1.234 or 1234" in message
    told = read(lines(rows, "when,mine"), **DECLARED, numbers="1.234,56")
    assert told.readings.power_w[0] == 1234


def test_columns_without_any_number_are_not_called_damaged():
    """0 of 0 cells were no numbers."""
    rows = [f"{n},-" for n in range(5)]
    options = {"time": "t", "time_unit": "s", "power": "p in W", "boundary": "wall"}
    message = refused(lines(rows, "t,p"), **options, numbers="1,234.56")
    assert "hold no number at all" in message


def test_rows_of_processors_are_refused_with_what_takes_the_whole():
    """turbostat without --Summary writes a row for the machine, then one for each processor."""
    rows = [
        row
        for n, power in enumerate(POWERS)
        for row in (
            f"{n}.5\t-\t-\t3.2\t{power:.2f}",
            f"{n}.5\t0\t0\t4.1\t{power:.2f}",
            f"{n}.5\t1\t1\t2.3",
        )
    ]
    text = lines(rows, "Time_Of_Day_Seconds\tCore\tCPU\tBusy%\tPkgWatt")
    with pytest.raises(FsgreenError) as caught:
        read(text, "turbostat")
    assert "turbostat --quiet --Summary" in caught.value.next_step
    assert """--set 'only=["CPU=-"]'""" in caught.value.next_step
    imported = read(text, "turbostat", only=["CPU=-"])
    assert imported.readings.power_w.tolist() == POWERS
    assert not imported.readings.flags


def test_times_that_repeat_are_told_how_rows_of_parts_are_read():
    rows = [f"{n},{part},{power + part}" for n, power in enumerate(POWERS) for part in (1, 2)]
    options = {"time": "t", "time_unit": "s", "power": "p in W", "boundary": "wall"}
    with pytest.raises(FsgreenError, match="times go back or stand still") as caught:
        read(lines(rows, "t,part,p"), **options)
    assert "--set together=COLUMN" in caught.value.next_step


def test_a_row_that_has_the_sum_is_not_added_to_its_parts():
    """turbostat's row of all processors beside those of the sockets gave twice the energy."""
    rows = [
        f"{n},{part},{power}" for n in range(4) for part, power in (("-", 41), (0, 20), (1, 21))
    ]
    options = {"time": "t", "time_unit": "s", "power": "p in W", "boundary": "wall"}
    with pytest.raises(FsgreenError, match="is the sum of the others by its name") as caught:
        read(lines(rows, "t,part,p"), **options, together="part")
    assert """--set 'only=["part=-"]'""" in caught.value.next_step
    alone = read(lines(rows, "t,part,p"), **options, only=["part=-"])
    assert alone.readings.power_w.tolist() == [41.0] * 4


def test_a_plug_that_is_off_for_a_while_is_not_frozen():
    rows = [f"{n},{0 if 20 < n < 60 else 50 + n * 0.37:.2f},{230 + n % 2}" for n in range(100)]
    options = {**DECLARED, "time": 1, "time_unit": "s", "power": 2, "voltage": 3}
    assert not read(lines(rows), **options).readings.flags
    options.pop("voltage")
    assert not read(lines(rows), **options).readings.flags
    steady = [row.replace(",0.00,", ",50.00,") for row in rows]
    assert set(read(lines(steady), **options).readings.flags.values()) == {"frozen"}


def test_a_log_of_intervals_whose_head_is_lost_has_a_gap_there():
    """Nothing is known of the time before: it is no time of little power."""
    rows = FILES["perf-stat-x"].splitlines(keepends=True)
    assert not read("".join(rows), "perf-stat-x").readings.flags
    imported = read("".join(rows[4:]), "perf-stat-x")
    assert imported.readings.flags == {1: "lost"}


@pytest.mark.parametrize("options", [{"gmt_offset": "+00:00"}, {}])
def test_energy_that_is_zero_at_the_time_zero_needs_a_time_that_counts_from_there(options):
    """Else its first power is that of half a century, or infinite."""
    dated = {**options, "time": "timestamp", "time_unit": "date"}
    message = refused(FILES["codecarbon"], driver="codecarbon", **dated)
    assert "energy is 0 at the time 0" in message


@pytest.mark.parametrize(
    ("cells", "numbers", "told"),
    [
        (("5.100", "800"), "1.234,56", "written as 1,234.56"),
        (("5,1", "8,2"), "", "the comma of 5,1 may be a decimal mark"),
    ],
)
def test_parts_are_added_as_their_numbers_are_written_or_not_at_all(cells, numbers, told):
    """5100 and 800 were 805,100 W once."""
    rows = [f"{n};{part};{cell}" for n in range(4) for part, cell in enumerate(cells)]
    options = {"time": "t", "time_unit": "s", "power": "p", "unit": "W", "boundary": "wall"}
    message = refused(lines(rows, "t;part;p"), **options, together="part", numbers=numbers)
    assert told in message


HELD = {"time": "t", "time_unit": "s", "unit": "W", "boundary": "wall", "held_s": 10.0}


def test_a_power_that_is_held_ends_with_the_last_whole_mean():
    """A mean over time of which nothing is known would be too little."""
    imported = read(lines(["0,100.1", "20,100.2", "37,100.3"], "t,p"), **HELD, power="p")
    assert imported.readings.time_s.tolist() == [0, 10, 20, 30]
    assert imported.readings.power_w.tolist() == pytest.approx([100.1, 100.1, 100.1, 100.2])


def test_tables_too_short_or_of_no_power_to_hold_are_refused():
    assert "the changes span 4 s" in refused(lines(["0,9.1", "4,9.2"], "t,p"), **HELD, power="p")
    assert "of a power" in refused(lines(["0,9.1"], "t,p"), **{**HELD, "unit": "J"}, energy="p")
    irregular = {**HELD, "held_s": 0.0, "irregular": True, "power": "p"}
    assert "holds 1 readings" in refused(lines(["5,9.1"], "t,p"), **irregular)


def test_a_part_that_lacks_at_one_moment_leaves_it_without_a_value():
    text = FILES["nvidia-smi"].splitlines(keepends=True)
    flags = read("".join(text[:4] + text[5:]), "nvidia-smi").readings.flags
    assert flags == {1: "bad-count"}


def test_what_is_unknown_for_a_while_is_no_power():
    text = FILES["home-assistant"].replace("30.75", "unavailable")
    imported = read(text, "home-assistant")
    assert [place for place, flag in imported.readings.flags.items() if "missing" in flag]
    assert math.isnan(energy_of(imported).energy_j)


def test_a_recipe_s_settings_give_way_to_the_user_s():
    text = FILES["turbostat"].replace("PkgWatt", "Pkg_W")
    assert "no line names the columns PkgWatt" in refused(text, driver="turbostat")
    imported = read(text, "turbostat", power="Pkg_W in W", covers=["cpu", "gpu"])
    assert imported.info.covers == ("cpu", "gpu")


@pytest.mark.parametrize("recipe", FILES)
@given(st.binary(max_size=200))
@fuzzed
def test_arbitrary_bytes_are_refused_or_read_without_a_crash(recipe, data):
    try:
        read(data, recipe)
    except FsgreenError as error:
        assert error.next_step


LONGER = lines(
    [f"2026-08-17 12:00:{n:02d},{POWERS[n % 6] + n / 100:.2f},230.5" for n in range(24)],
    "when,mine,volts",
)


@given(st.data())
@fuzzed
def test_damage_is_refused_or_flagged_never_another_number(data):
    def as_declared(text):
        return read(text, **DECLARED, gmt_offset="+00:00")

    hurt = data.draw(damaged(LONGER.encode(), whole_cells=True))
    assert not silent_errors(as_declared, hurt, as_declared(LONGER.encode()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "# of a lab\n# by night\nwhen,Watts,on\n10:00:01,20.5,1\n10:00:02,20.6,1\n",
            "when, Watts, on",
        ),
        ("10:00:01;20,5\n10:00:02;20,6\n", r"1 \(10:00:01\), 2 \(20,5\)"),
        ('{"ts": 1, "power": {"cpu": 20.5}}\n', r"ts, power\.cpu"),
        ("t   W\n1   20\n2   21\n", "t, W"),
    ],
)
def test_the_first_call_shows_the_columns_so_that_the_second_can_name_them(tmp_path, text, shown):
    file = tmp_path / "power.csv"
    file.write_text(text)
    with pytest.raises(FsgreenError, match=f"columns seem to be: {shown}") as caught:
        import_file(file, registry.importer("table"), {})
    assert "--set time=" in caught.value.next_step


@given(st.binary(max_size=200))
def test_columns_of_any_bytes_are_shown_or_refused(data):
    with suppress(FsgreenError):
        assert isinstance(registry.importer("table").columns(data), list)


def test_an_offset_that_the_times_contradict_is_refused():
    """Times that say their own offset would silently be read by it, two hours from the set one."""
    rows = [f"{stamp.replace(' ', 'T')}+02:00,{power}" for stamp, power in STAMPED]
    options = dict(time="t", power="p in W", boundary="wall")
    text = lines(rows, "t,p")
    plain = read(text, **options)
    assert read(text, gmt_offset="+02:00", **options).readings.time_s[0] == plain.readings.time_s[0]
    assert "leave gmt_offset out" in refused(text, gmt_offset="+00:00", **options)


@pytest.mark.parametrize(
    ("recipe", "column", "name"),
    [
        ("tasmota-log", "before", "tele/plug/SENSOR"),
        ("home-assistant", "entity_id", "sensor.plug_power"),
        ("codecarbon", "run_id", "run"),
    ],
)
def test_two_meters_in_a_file_are_not_read_as_one(recipe, column, name):
    """A plug of 22 W and one of 222 W would be one of 122 W, without a flag."""
    rows = FILES[recipe].splitlines()
    rows[1::2] = [row.replace(name, "another", 1) for row in rows[1::2]]
    message = refused("\n".join(rows), driver=recipe)
    assert f"{column} is not the same in all rows: another" in message
    assert f"""--set 'only=["{column}=another"]'""" in message
    one = read("\n".join(rows), recipe, only=[f"{column}={name}"]).readings
    assert 2 < len(one) < len(read(FILES[recipe], recipe).readings)
