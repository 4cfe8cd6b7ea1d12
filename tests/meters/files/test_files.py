import pandas as pd
import pytest
from hobo_texts import Style, recording, write

from fsgreen.errors import FsgreenError
from fsgreen.meters.files.importing import import_file, options_of, write_power
from fsgreen.meters.hoboware.driver import IMPORTER
from fsgreen.units import check_columns


def test_imported_file_becomes_a_table_of_power(tmp_path):
    source, target = tmp_path / "day.csv", tmp_path / "power.parquet"
    source.write_bytes(write(Style()))
    write_power(import_file(source, IMPORTER, {"range_w": 1000}), "system", target)
    table = check_columns(pd.read_parquet(target))
    assert table["power_w"].tolist() == [values[2] for _, values in recording()]
    assert set(table["meter"]) == {"system"}
    assert set(table["quality"]) == {"ok", "over-range"}
    with pytest.raises(FsgreenError, match="a file already"):
        write_power(import_file(source, IMPORTER, {}), "system", target)
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
