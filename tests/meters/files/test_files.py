import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hobo_texts import Style, recording, write

from fsgreen.errors import FsgreenError
from fsgreen.meters.files.energies import energy_of, moment, sound_spans, span_of
from fsgreen.meters.files.importing import KEY, beside, import_file, options_of, write_readings
from fsgreen.meters.hoboware.driver import IMPORTER
from fsgreen.units import check_columns


def test_imported_file_becomes_a_table_of_power(tmp_path):
    source, target = tmp_path / "day.csv", tmp_path / "power.parquet"
    source.write_bytes(write(Style()))
    imported = import_file(source, IMPORTER, {"range_w": 1000})
    said = energy_of(imported)
    write_readings(imported, said, target)
    table = check_columns(pd.read_parquet(target))
    assert table["power_w"].tolist() == [values[2] for _, values in recording()]
    assert set(table["meter"]) == {"hoboware"}
    assert set(table["quality"]) == {"ok", "over-range"}
    with pytest.raises(FsgreenError, match="a file already"):
        write_readings(imported, said, target)
    assert {file.name for file in tmp_path.iterdir()} == {"day.csv", "power.parquet"}


def test_refusal_names_the_file(tmp_path):
    source = tmp_path / "day.csv"
    with pytest.raises(FsgreenError, match="No such file"):
        import_file(source, IMPORTER, {})
    source.write_bytes(b"nothing")
    with pytest.raises(FsgreenError, match=r"day\.csv"):
        import_file(source, IMPORTER, {})
    with pytest.raises(FsgreenError, match="unknown key date, did you mean dates"):
        import_file(source, IMPORTER, {"date": "DMY"})


def test_settings_are_texts_unless_toml_reads_a_number():
    texts = ["dates=DMY", "numbers=1.234,56", "range_w=3600", "gmt_offset=-07:00", 'rails=["5V"]']
    assert options_of(texts) == {
        "dates": "DMY",
        "numbers": "1.234,56",
        "range_w": 3600,
        "gmt_offset": "-07:00",
        "rails": ["5V"],
    }
    with pytest.raises(FsgreenError, match="no setting"):
        options_of(["DMY"])


def test_a_setting_that_is_a_text_stays_one():
    """`gmt_offset=+1` was read as the number 1, which is no text."""
    assert options_of(["gmt_offset=+1"], IMPORTER.settings) == {"gmt_offset": "+1"}
    assert options_of(["range_w=1"], IMPORTER.settings) == {"range_w": 1}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_written_says_what_it_is(tmp_path, ending):
    """A table of power that lost its boundary and its accuracy is compared with any other."""
    source, target = tmp_path / "day.csv", tmp_path / f"out.{ending}"
    source.write_bytes(write(Style()))
    imported = import_file(source, IMPORTER, {})
    said = energy_of(imported)
    write_readings(imported, said, target)
    if ending == "csv":
        table = pd.read_csv(target, comment="#")
        lines = [line for line in target.read_text().splitlines() if line.startswith("# ")]
        about = dict(line[2:].split(": ", 1) for line in lines if "decision" not in line)
        about = {name: json.loads(text) for name, text in about.items()}
        energy, decisions = about["energy"], [line[12:] for line in lines if "decision" in line]
    else:
        table = pd.read_parquet(target)
        kept = json.loads(pq.read_schema(target).metadata[KEY])
        about, energy, decisions = kept["meter"], kept["energy"], kept["decisions"]
    assert table["power_w"].tolist() == imported.readings.power_w.tolist()
    assert (about["boundary"], about["serial"]) == ("wall", "10123456")
    assert about["gain_error"] == imported.info.gain_error
    assert energy["energy_j"] == pytest.approx(said.energy_j)
    assert decisions == list(imported.decisions)


def test_another_ending_and_a_folder_that_is_not_there_are_named(tmp_path):
    source = tmp_path / "day.csv"
    source.write_bytes(write(Style()))
    imported = import_file(source, IMPORTER, {})
    said = energy_of(imported)
    with pytest.raises(FsgreenError, match="not written as") as caught:
        write_readings(imported, said, tmp_path / "x.xls")
    assert ".csv or .parquet" in caught.value.next_step
    with pytest.raises(FsgreenError, match="No such file or directory"):
        write_readings(imported, said, tmp_path / "none" / "x.csv")


def test_the_energy_of_a_part_is_of_that_part_alone(tmp_path):
    source = tmp_path / "day.csv"
    source.write_bytes(write(Style(), recording(60)))
    imported = import_file(source, IMPORTER, {})
    part = span_of(imported, moment("10", imported), moment("2010-01-14T00:00:15-07:00", imported))
    said = energy_of(imported, part)
    assert said.duration_s == 15
    powers = [values[2] for _, values in recording(60)][10:26]
    assert said.energy_j == pytest.approx(sum(powers) - (powers[0] + powers[-1]) / 2)
    with pytest.raises(FsgreenError, match="no readings from 10 s to 500 s"):
        span_of(imported, moment("10", imported), moment("500", imported))
    with pytest.raises(FsgreenError, match="noon is neither a number of seconds nor a time"):
        moment("noon", imported)


@pytest.mark.parametrize(
    ("begin", "end", "next_step"), [("10", "5", "--from 5 --to 10"), ("5", "5", "a later --to")]
)
def test_a_part_that_ends_before_it_begins_is_told_how_it_is_right(tmp_path, begin, end, next_step):
    source = tmp_path / "day.csv"
    source.write_bytes(write(Style(), recording(60)))
    imported = import_file(source, IMPORTER, {})
    with pytest.raises(FsgreenError, match="is not before --to") as caught:
        span_of(imported, moment(begin, imported), moment(end, imported))
    assert next_step in caught.value.next_step


def test_the_longest_sound_part_of_a_flawed_file_is_found(tmp_path):
    source = tmp_path / "day.csv"
    rows = write(Style(events=False), recording(60)).replace(b",267.5,", b",,", 1)
    source.write_bytes(rows)
    imported = import_file(source, IMPORTER, {})
    ((place, _),) = imported.readings.flags.items()
    assert sound_spans(imported)[-1] == (place + 2, 59)
    assert (
        energy_of(
            imported,
            span_of(
                imported,
                *[imported.readings.time_s[0] + at_s for at_s in sound_spans(imported)[-1]],
            ),
        ).energy_j
        > 0
    )


def test_settings_may_stand_in_a_file_beside_the_log(tmp_path):
    log = tmp_path / "power.csv"
    assert beside(log) == {}
    (tmp_path / "power.csv.toml").write_text('driver = "table"\nunit = "W"\n')
    assert beside(log) == {"driver": "table", "unit": "W"}
    (tmp_path / "power.csv.toml").write_text("driver")
    with pytest.raises(FsgreenError, match="cannot be read"):
        beside(log)
