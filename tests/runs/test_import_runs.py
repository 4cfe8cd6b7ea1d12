"""From files of runs to tables and a report that says what it cannot know."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from damaged_files import OUTPUTS, fuzzed, read
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import cli, reduce, units
from fsgreen.errors import FsgreenError
from fsgreen.runs import (
    cells_of_runs,
    comparisons_of_runs,
    describe,
    energibridge,
    import_runs,
)
from fsgreen.runs.meanings import meanings_of
from fsgreen.runs.places import levels_of, path_pattern

FIO = OUTPUTS / "fio_randread.json"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """Results go to a folder of the test."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))


def fio_files(folder, speeds, runs=6):
    """A file a run, `FILE_SYSTEM/BLOCK.json`, each with a scatter and one drift over blocks."""
    rng = np.random.default_rng(5)
    text = FIO.read_text()
    found = json.loads(text[text.index("\n{") :])
    files = []
    for block in range(1, runs + 1):
        for name, speed in speeds.items():
            ios = round(20_000 * speed * block**0.5 * math.exp(rng.normal(0, 0.01)))
            part = found["jobs"][0]["read"]
            part |= {"total_ios": ios, "io_bytes": 4096 * ios, "runtime": 2000}
            part |= {"io_kbytes": 4 * ios, "iops": ios / 2, "bw_bytes": 2048 * ios}
            files.append(folder / name / f"{block}.json")
            files[-1].parent.mkdir(exist_ok=True)
            files[-1].write_text(json.dumps(found))
    return files


def imported(files, *maps, path=None, boundary=None):
    pattern = path_pattern(path) if path else None
    return import_runs(files, meanings_of(list(maps)), pattern=pattern, boundary=boundary)


def csv(folder, rows, columns, name="run_table.csv"):
    """A run table with rows of one combination each; repetitions are counted."""
    seen = {}
    lines = [",".join(["__run_id", "__done", *columns])]
    for row in rows:
        nth = list(dict.fromkeys(r[0] for r in rows)).index(row[0])
        seen[nth] = seen.get(nth, -1) + 1
        lines.append(",".join([f"run_{nth}_repetition_{seen[nth]}", "DONE", *map(str, row)]))
    file = folder / name
    file.write_text("\n".join(lines) + "\n")
    return file


# --- the table ---------------------------------------------------------------------------------


def test_levels_come_from_paths_and_tables_like_those_of_a_campaign_are_written(tmp_path):
    files = fio_files(tmp_path, {"ext4": 1, "xfs": 1.2})
    found = imported(files, path="{file_system}/{block}.json")
    folder = found.write("mine")
    trials = reduce.read_table("mine", "trials")
    assert len(trials) == 12
    assert set(trials["file_system"]) == {"ext4", "xfs"}
    assert sorted(set(trials["block"])) == [1, 2, 3, 4, 5, 6]
    assert set(trials["workload"]) == {"randread"}
    assert (trials["campaign"] == "mine").all()
    assert trials["trial"].is_unique
    assert (trials["throughput_ops_s"] == trials["work_ops"] / trials["duration_s"]).all()
    assert not {"energy_j", "boundary", "option"} & set(trials)
    for name in ("trials", "cells", "comparisons"):
        units.check_columns(reduce.read_table("mine", name))
    record = json.loads((folder / "imported.json").read_text())
    assert len(record["files"]) == 12
    assert all(len(entry["sha256"]) == 64 for entry in record["files"])


def test_energy_needs_its_boundary_and_gives_work_per_energy(tmp_path):
    rows = [("ext4", 100, 10, 1000), ("ext4", 100, 10, 1010)]
    file = csv(tmp_path, rows, ("fs", "work_ops", "duration_s", "energy_j"))
    with pytest.raises(FsgreenError, match="--boundary wall"):
        imported([file], "fs=option")
    table = imported([file], "fs=option", boundary="cpu").trials
    assert set(table["boundary"]) == {"cpu"}
    assert table["efficiency_ops_j"].tolist() == [0.1, 100 / 1010]
    assert table["power_w"].tolist() == [100, 101]


@pytest.mark.parametrize(
    ("columns", "row", "message"),
    [
        (("energy_j", "duration_s", "power_w"), (1000, 10, 500), "energy_j 1000 is not power_w"),
        (("work_ops", "duration_s", "throughput_ops_s"), (5, 5, 5), "check the units"),
        (("duration_s",), (0,), "duration_s 0"),
        (("duration_s",), (-1,), "duration_s -1"),
        (("energy_j",), (-1,), "energy_j -1"),
        (("block", "duration_s"), ("first", 1), "no whole number"),
        (("option", "duration_s"), (" ", 1), "has no option"),
        (("speed",), (5,), "no column of these files is a quantity"),
    ],
)
def test_values_that_cannot_be_are_refused(tmp_path, columns, row, message):
    with pytest.raises(FsgreenError, match=message) as caught:
        imported([csv(tmp_path, [row], columns)], boundary="wall")
    assert caught.value.next_step


def test_what_has_no_meaning_is_kept_beside_the_table(tmp_path):
    file = csv(tmp_path, [(1, "hot", "x")], ("duration_s", "weather", "trial"))
    found = imported([file])
    assert list(found.aside) == ["trial", "weather", "trial (in the file)"]
    found.write("mine")
    aside = reduce.read_table("mine", "aside")
    assert aside["weather"].tolist() == ["hot"]
    assert aside["trial"].tolist() == reduce.read_table("mine", "trials")["trial"].tolist()


def test_a_trace_of_energibridge_is_one_run(tmp_path):
    lines = ["Delta,Time,SYSTEM_POWER (Watts)"]
    lines += [f"200,{1_700_000_000_000 + 200 * n},20" for n in range(20)]
    file = tmp_path / "trace.csv"
    file.write_text("\n".join(lines) + "\n")
    (row,) = imported([file], boundary="dc-rail").trials.to_dict("records")
    assert row["power_w"] == pytest.approx(20)
    assert row["energy_j"] == pytest.approx(20 * row["duration_s"])
    assert 3.5 < row["duration_s"] <= 3.8
    file.write_text("\n".join([*lines[:9], *lines[12:]]) + "\n")
    with pytest.raises(FsgreenError, match="marked lost"):
        imported([file], boundary="dc-rail")


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_no_trace_of_energibridge(data):
    for start in (b"", b"Delta,Time,SYSTEM_POWER (Watts)\n"):
        with pytest.raises(FsgreenError) as caught:
            read(energibridge.FORMAT, start + data)
        assert caught.value.next_step


def test_a_file_that_is_given_twice_counts_once_or_not_at_all(tmp_path):
    copy = tmp_path / "copy.json"
    copy.write_bytes(FIO.read_bytes())
    with pytest.raises(FsgreenError, match="count a run twice"):
        imported([FIO, copy])
    with pytest.raises(FsgreenError, match="count a run twice"):
        imported([FIO, FIO])


def test_files_of_several_formats_and_of_none_are_refused(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("nothing\n")
    with pytest.raises(FsgreenError, match=r"none of: .*fio 3"):
        imported([other])
    with pytest.raises(FsgreenError, match="several formats"):
        imported([FIO, OUTPUTS / "filebench_1.txt"])
    with pytest.raises(FsgreenError, match="cannot be read"):
        imported([tmp_path / "absent.json"])


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("fsgreen.runs.importing.LARGEST_B", 1000)
    with pytest.raises(FsgreenError, match="larger than"):
        imported([FIO])


def test_a_campaign_is_never_overwritten():
    found = imported([FIO])
    found.write("mine")
    with pytest.raises(FsgreenError, match="already"):
        found.write("mine")


@pytest.mark.parametrize(
    ("pattern", "path", "levels"),
    [
        ("{file_system}/*.json", "a/ext4/1.json", {"file_system": "ext4"}),
        ("{file_system}-{option}-{block}.json", "ext4-a+b-2.json", {"option": "a+b", "block": "2"}),
        ("{workload}.(x).txt", "oltp.(x).txt", {"workload": "oltp"}),
    ],
)
def test_paths_name_levels(pattern, path, levels):
    assert levels_of(path, path_pattern(pattern)).items() >= levels.items()


def test_paths_that_do_not_fit_are_refused():
    with pytest.raises(FsgreenError, match="does not fit --path"):
        levels_of("ext4.json", path_pattern("{file_system}/{block}.json"))
    with pytest.raises(FsgreenError, match="unknown factor in --path 'fs'"):
        path_pattern("{fs}.json")
    with pytest.raises(FsgreenError, match="stands twice"):
        path_pattern("{option}/{option}.json")


def test_a_path_may_not_contradict_its_file(tmp_path):
    file = csv(tmp_path, [("xfs", 1)], ("file_system", "duration_s"), "ext4.csv")
    with pytest.raises(FsgreenError, match="the path says file_system ext4, and the file xfs"):
        imported([file], path="{file_system}.csv")


# --- the report --------------------------------------------------------------------------------


def trials(ext4, xfs, **more):
    return pd.DataFrame(
        {
            "file_system": ["ext4"] * len(ext4) + ["xfs"] * len(xfs),
            "throughput_ops_s": [*ext4, *xfs],
            **more,
        }
    )


def test_rates_without_their_totals_are_averaged_harmonically():
    """60 and 30 a second over the same work are 40, not 45."""
    cells = cells_of_runs(trials([60.0, 30.0], [40.0, 40.0]))
    assert cells["throughput_ops_s"].tolist() == pytest.approx([40, 40])
    assert cells["n"].tolist() == [2, 2]
    assert not cells["enough"].any()


def test_rates_with_their_totals_are_total_over_total():
    table = pd.DataFrame({"work_ops": [100, 300], "duration_s": [1.0, 2.0]})
    table["throughput_ops_s"] = table["work_ops"] / table["duration_s"]
    assert cells_of_runs(table)["throughput_ops_s"].tolist() == pytest.approx([400 / 3])


def test_missing_values_leave_their_column_only():
    table = trials([10.0, math.nan, 12.0], [11.0], energy_j=[1.0, 2.0, 3.0, 4.0])
    cells = cells_of_runs(table).set_index("file_system")
    assert cells.loc["ext4", "n"] == 3
    assert cells.loc["ext4", "throughput_ops_s"] == pytest.approx(2 / (1 / 10 + 1 / 12))
    assert cells.loc["ext4", "energy_j"] == 2


def test_two_cells_are_compared_by_welch():
    """By hand: logs 0, 0.1, 0.2, 0.3, 0.4 and these + 1: t = 1 / sqrt(0.01) with 8 degrees."""
    logs = np.arange(5) / 10
    (row,) = comparisons_of_runs(trials(np.exp(logs), np.exp(1 + logs))).to_dict("records")
    assert (row["candidate"], row["baseline"], row["varies"]) == ("xfs", "ext4", "file_system")
    assert not row["paired"]
    assert row["ratio_x"] == pytest.approx(math.e)
    assert row["ratio_low_x"] == pytest.approx(math.exp(1 - 2.306 * 0.1), rel=1e-4)
    assert row["difference_p"] == pytest.approx(8.488e-06, rel=1e-3)
    assert row["outcome"] == "different"


def test_runs_of_the_same_blocks_are_compared_inside_them():
    """Drift that hits both is no scatter of their ratio."""
    drift = np.array([1, 2, 4, 8, 16.0])
    noise = np.array([1, 1.01, 0.99, 1.01, 0.99])
    table = trials(100 * drift, 110 * drift * noise, block=[*range(5), *range(5)])
    (row,) = comparisons_of_runs(table).to_dict("records")
    assert row["paired"]
    assert row["ratio_low_x"] > 1.08
    (unpaired,) = comparisons_of_runs(table.drop(columns="block")).to_dict("records")
    assert unpaired["ratio_low_x"] < 1 < unpaired["ratio_high_x"]


def test_few_runs_conclude_nothing_and_no_runs_are_ever_equal():
    (row,) = comparisons_of_runs(trials([1.0, 1.01], [5.0, 5.01])).to_dict("records")
    assert row["difference_p"] < 0.01
    assert row["outcome"] == "inconclusive"
    (same,) = comparisons_of_runs(trials([1.0] * 6, [1.0] * 6)).to_dict("records")
    assert (same["ratio_x"], same["outcome"]) == (1, "inconclusive")


def test_a_family_of_comparisons_is_corrected():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {"option": np.repeat(list("abcd"), 6), "throughput_ops_s": np.exp(rng.normal(0, 1, 24))}
    )
    pairs = comparisons_of_runs(table)
    assert len(pairs) == 6
    assert (pairs["difference_holm_p"] >= pairs["difference_p"]).all()
    assert pairs["difference_holm_p"].min() == pytest.approx(
        min(1, 6 * pairs["difference_p"].min())
    )


def test_workloads_are_not_compared_with_each_other():
    table = trials([1.0] * 6, [2.0] * 6, workload=["web"] * 6 + ["mail"] * 6)
    assert comparisons_of_runs(table).empty
    assert comparisons_of_runs(table.drop(columns="file_system")).empty


def test_a_default_is_the_baseline():
    table = pd.DataFrame(
        {"option": ["aaa"] * 5 + ["default"] * 5, "duration_s": [*range(1, 6), *range(2, 7)]}
    )
    (row,) = comparisons_of_runs(table).to_dict("records")
    assert (row["candidate"], row["baseline"]) == ("aaa", "default")


def test_the_report_says_what_it_cannot_know():
    lines = "\n".join(describe(trials([1.0, 1.1], [2.0, 2.1])))
    assert "fewer than 5 runs (rule 26)" in lines
    for rule in ("1, 27", "3, 4, 25", "7, 8", "13 to 18", "23, 24", "37"):
        assert f"rule {rule}" in lines
    with_blocks = "\n".join(describe(trials([1.0], [2.0], block=[1, 1])))
    assert "3, 4, 25" not in with_blocks


def test_the_command_imports_and_reports(tmp_path, capsys):
    files = fio_files(tmp_path, {"ext4": 1, "xfs": 1.2})
    arguments = ["import-runs", *map(str, files), "--name", "mine"]
    assert cli.main([*arguments, "--path", "{file_system}/{block}.json"]) == 0
    shown = capsys.readouterr().out
    assert "12 runs from 12 files" in shown
    assert re.search(r"throughput: xfs over ext4 \(randread\) 1\.(19|20)", shown)
    assert "different" in shown
    assert "What these runs cannot tell" in shown


def test_the_command_has_help_with_an_example(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["import-runs", "--help"])
    assert left.value.code == 0
    assert "example: fsgreen import-runs" in capsys.readouterr().out


def test_the_command_asks_for_what_is_missing(tmp_path, capsys):
    file = csv(tmp_path, [("ext4", 5, 7)], ("fs", "energy", "humidity"))
    assert cli.main(["import-runs", str(file), "--name", "mine"]) == 1
    assert "--map 'energy=energy_kwh'" in capsys.readouterr().err
    maps = ["--map", "energy=energy_j", "--boundary", "wall"]
    assert cli.main(["import-runs", str(file), "--name", "mine", *maps]) == 0
    assert "kept aside: fs, humidity" in capsys.readouterr().out
