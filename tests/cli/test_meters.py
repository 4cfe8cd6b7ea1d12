"""What a user of meters types: nothing is lost, overwritten or guessed by a command."""

import re
from contextlib import contextmanager

import pandas as pd
import pytest

from fsgreen import cli
from fsgreen.meters.core import registry
from fsgreen.meters.table.driver import recipes
from tests.emulated import MEMORY_COUNT, Emulator
from tests.meters.files.tables_of_programs import ENERGIES_J, FILES

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


@pytest.mark.parametrize("name", registry.names())
def test_settings_of_every_driver_are_listed_with_what_they_take_and_mean(name, capsys):
    assert cli.main(["meters", name]) == 0
    for line in capsys.readouterr().out.splitlines():
        setting, _, about = line.partition("  ")
        takes, _, meaning = about.partition(". ")
        assert setting and takes and meaning, line


def test_a_file_of_a_meter_becomes_a_table_once(tmp_path, capsys):
    file, out = tmp_path / "server.csv", tmp_path / "server.parquet"
    file.write_text(HOBO)
    asked = ["import", str(file), "--driver", "hoboware", "--out", str(out)]
    assert cli.main(asked) == 0
    shown = capsys.readouterr().out
    assert "3 readings in 2.0 s, 0 of them flagged" in shown
    assert "energy 405 J, within" in shown and "mean power 202.5 W" in shown
    assert pd.read_parquet(out)["power_w"].tolist() == [201.5, 202.5, 203.5]
    assert cli.main(asked) == 1
    assert "a file already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--driver", "hobo"], "did you mean hoboware"),
        (["--driver", "hoboware", "--set", "dates"], "is no setting"),
        (["--driver", "hoboware", "--set", "dates=mdy"], "takes MDY, DMY or YMD, not"),
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
        shown = capsys.readouterr().out
        assert f"room for {MEMORY_COUNT};" in shown and f"2 records in {file}" in shown
        assert (meter.memory_w, meter.memory_interval_s) == ([], 60)
        assert cli.main([*asked, "--download", str(file)]) == 1
        assert "there is a file already" in capsys.readouterr().err


def test_a_file_without_an_energy_is_no_success_and_no_mean_is_given(tmp_path, capsys):
    """A mean over what is left stood there as the mean, and `nan W` ended with status 0."""
    file, out = tmp_path / "server.csv", tmp_path / "server.csv.csv"
    file.write_text(HOBO.replace("202.5", ""))
    assert cli.main(["import", str(file), "--driver", "hoboware", "--out", str(out)]) == 1
    shown = capsys.readouterr()
    assert "mean" not in shown.out and "nan" not in shown.out
    assert "rule 14, missing: 1 readings marked missing" in shown.out
    assert "there is no energy" in shown.err
    assert out.exists()


def test_a_meter_is_recorded_without_a_campaign_and_read_again(tmp_path, capsys):
    raw, picture = tmp_path / "night.power.raw", tmp_path / "night.svg"
    asked = ["record", "wattsup", "--set", "emulate=true", "--seconds", "5"]
    assert cli.main([*asked, "--raw", str(raw), "--picture", str(picture)]) == 0
    first = capsys.readouterr().out
    assert "boundary modelled" in first and "energy " in first
    assert picture.read_text().startswith("<?xml")
    assert cli.main(["import", str(raw), "--driver", "raw"]) == 0
    energies = [
        [line for line in shown.splitlines() if line.startswith("energy ")]
        for shown in (first, capsys.readouterr().out)
    ]
    assert energies[0] == energies[1]
    assert cli.main([*asked, "--raw", str(raw)]) == 1
    assert "a file already" in capsys.readouterr().err


def test_a_meter_of_a_testbed_file_is_recorded_by_its_name(tmp_path, capsys):
    lab = tmp_path / "lab.toml"
    lab.write_text('[[meter]]\nname = "system"\ndriver = "wattsup"\nemulate = true\n')
    asked = ["record", "disk", "--testbed", str(lab), "--seconds", "1", "--raw"]
    assert cli.main([*asked, str(tmp_path / "a.raw")]) == 1
    assert "meters here: system" in capsys.readouterr().err


def test_a_memory_that_was_downloaded_is_read_with_its_energy(tmp_path, capsys):
    file = tmp_path / "night.power.raw"
    with watts_up(200.0, 201.0, 202.0) as meter:
        assert cli.main(["wattsup-memory", meter.port, "--download", str(file)]) == 0
    capsys.readouterr()
    assert cli.main(["import", str(file), "--driver", "raw"]) == 0
    assert "energy 4020 J" in capsys.readouterr().out


def test_a_recording_that_is_refused_is_not_said_to_have_begun(tmp_path, capsys):
    asked = ["record", "wattsup", "--set", "emulate=true", "--raw", str(tmp_path / "a.raw")]
    assert cli.main([*asked, "--seconds", "-4"]) == 1
    shown = capsys.readouterr()
    assert "recording" not in shown.out
    assert "-4 s is no time" in shown.err


def test_a_table_that_is_no_raw_trace_is_told_what_reads_it(tmp_path, capsys):
    file = tmp_path / "power.csv"
    file.write_text("time,Watts\n1,20.5\n")
    assert cli.main(["import", str(file), "--driver", "raw"]) == 1
    shown = capsys.readouterr().err
    assert "no raw power trace" in shown and "--driver table" in shown
    assert "JSON" not in shown and "dvc" not in shown


def test_what_a_file_does_not_say_of_its_meter_is_asked_for_and_never_a_question_mark(
    tmp_path, capsys
):
    file = tmp_path / "power.csv"
    file.write_text("time,Watts\n" + "".join(f"{n},20.{n}\n" for n in range(1, 9)))
    asked = ["import", str(file), "--driver", "table", "--set", "time=time", "--set", "time_unit=s"]
    asked += ["--set", "power=Watts in W", "--set", "boundary=wall", "--set", "gain_error=0.01"]
    assert cli.main(asked) == 0
    shown = capsys.readouterr().out
    assert "a meter that table cannot name, serial not told, boundary wall" in shown
    assert "--set model=... --set serial=..." in shown
    assert cli.main([*asked, "--from", "later"]) == 1
    assert "where: a meter that table cannot name" in capsys.readouterr().err
    assert cli.main([*asked, "--set", "model=Plug", "--set", "serial=7a"]) == 0
    shown = capsys.readouterr().out
    assert "Plug, serial 7a, boundary wall" in shown
    assert "you may" not in shown


def test_a_part_of_a_file_is_cut_by_seconds_or_by_moments_and_drawn(tmp_path, capsys):
    """202 W to 203 W in one second; a picture that exists is not written over."""
    file, picture = tmp_path / "server.csv", tmp_path / "server.svg"
    file.write_text(HOBO)
    asked = ["import", str(file), "--driver", "hoboware"]
    assert cli.main([*asked, "--from", "1", "--to", "2"]) == 0
    by_seconds = capsys.readouterr().out
    assert "energy 203 J" in by_seconds and "mean power 203 W" in by_seconds
    moments = ["--from", "2026-08-17T13:00:01Z", "--to", "2026-08-17T13:00:02Z"]
    assert cli.main([*asked, *moments, "--picture", str(picture)]) == 0
    assert capsys.readouterr().out == by_seconds
    assert "<svg" in picture.read_text()
    assert cli.main([*asked, "--picture", str(picture)]) == 1
    assert "a file already" in capsys.readouterr().err


def test_every_recipe_is_listed_with_the_command_that_reads_it(capsys):
    assert cli.main(["meters"]) == 0
    shown = capsys.readouterr().out
    assert "A driver or recipe of kind file reads: fsgreen import FILE --driver NAME" in shown
    assert "One of another kind is read by: fsgreen record NAME --seconds N --raw FILE" in shown
    listed = dict(line.split(maxsplit=1) for line in shown.splitlines() if "  file  " in line)
    assert FILES.keys() <= listed.keys()
    for name, recipe in recipes().items():
        assert recipe.summary in listed[name]


@pytest.mark.parametrize("name", FILES)
def test_the_command_of_a_recipe_tells_the_energy_of_its_program_s_file(name, tmp_path, capsys):
    """The truth is within the limits that the command tells with it."""
    file = tmp_path / "power.log"
    file.write_text(FILES[name])
    assert cli.main(["import", str(file), "--driver", name, "--set", "gain_error=0.05"]) == 0
    told = re.search(r"^energy (\S+) J, within (\S+) J", capsys.readouterr().out, re.MULTILINE)
    energy_j, limit_j = map(float, told.groups())
    assert energy_j == pytest.approx(ENERGIES_J[name], abs=limit_j)
