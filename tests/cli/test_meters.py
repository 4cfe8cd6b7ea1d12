"""What a user of meters types: nothing is lost, overwritten or guessed by a command."""

from contextlib import contextmanager

import pandas as pd
import pytest

from fsgreen import cli
from fsgreen.meters.core import registry
from tests.emulated import Emulator

HOBO = (
    '"Plot Title: server"\n'
    '"#","Date Time, GMT+00:00","Active Power, W (LGR S/N: 10, SEN S/N: 10, LBL: p)"\n'
    '1,"08/17/26 13:00:00",201.5\n2,"08/17/26 13:00:01",202.5\n3,"08/17/26 13:00:02",203.5\n'
)


@contextmanager
def watts_up(*powers_w):
    with Emulator(lambda: 0.0) as emulator:
        emulator.memory_w, emulator.memory_interval_s = list(powers_w), 10
        yield emulator


def test_every_driver_is_listed_and_what_is_missing_has_a_remedy(capsys):
    assert cli.main(["meters"]) == 0
    shown = capsys.readouterr().out
    for name in registry.names():
        assert f"\n{name} " in f"\n{shown}"
    for line in shown.splitlines():
        assert "missing: " not in line or line.partition("missing: ")[2].count(":") >= 1


def test_a_file_of_a_meter_becomes_a_table_once(tmp_path, capsys):
    file, out = tmp_path / "server.csv", tmp_path / "server.parquet"
    file.write_text(HOBO)
    asked = ["import", str(file), "--driver", "hoboware", "--out", str(out)]
    assert cli.main(asked) == 0
    assert "3 readings, 0 of them flagged, in 2.0 s; mean power 202.5 W" in capsys.readouterr().out
    assert pd.read_parquet(out)["power_w"].tolist() == [201.5, 202.5, 203.5]
    assert cli.main(asked) == 1
    assert "a file already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--driver", "hobo"], "did you mean hoboware"),
        (["--driver", "hoboware", "--set", "dates"], "is no setting"),
        (
            ["--driver", "hoboware", "--set", "days=DMY"],
            "days, did you mean dates? Known: boundary",
        ),
    ],
)
def test_a_wrong_word_about_a_file_is_named(tmp_path, capsys, changes, message):
    file = tmp_path / "server.csv"
    file.write_text(HOBO)
    assert cli.main(["import", str(file), *changes]) == 1
    assert message in capsys.readouterr().err


def test_a_memory_is_downloaded_once_and_then_may_be_cleared(tmp_path, capsys):
    file = tmp_path / "night.power.raw"
    with watts_up(200.0, 201.0) as meter:
        asked = ["wattsup-memory", meter.port]
        assert cli.main([*asked, "--log-every", "60"]) == 1
        assert "holds 2 records" in capsys.readouterr().err
        assert cli.main([*asked, "--download", str(file), "--log-every", "60"]) == 0
        assert f"2 records in {file}" in capsys.readouterr().out
        assert (meter.memory_w, meter.memory_interval_s) == ([], 60)
        assert cli.main([*asked, "--download", str(file)]) == 1
        assert "there is a file already" in capsys.readouterr().err
