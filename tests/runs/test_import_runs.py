"""From files of runs to tables and a report that says what it cannot know."""

import hashlib
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
import synthetic
from damaged_files import OUTPUTS, fuzzed, read
from hypothesis import given
from hypothesis import strategies as st

import fsgreen
from fsgreen import cli, confounds, paths, pipeline, reduce
from fsgreen.analysis import standard
from fsgreen.campaign import Campaign, status
from fsgreen.errors import FsgreenError
from fsgreen.runs import ImportedRuns, energibridge, import_runs
from fsgreen.runs.meanings import meanings_of
from fsgreen.runs.places import levels_of, path_pattern

FIO = OUTPUTS / "fio_randread.json"

OF_METERS = re.compile(r"(power|energy)_(system|disk)_[wj]")
"""Columns of the meters of the measured campaign beside."""


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
    folder = imported(files, path="{file_system}/{block}.json").keep("mine", "Mine")
    reduce.write("mine")
    trials = reduce.read_table("mine", "trials")
    assert len(trials) == 12
    assert set(trials["file_system"]) == {"ext4", "xfs"}
    assert sorted(set(trials["block"])) == [1, 2, 3, 4, 5, 6]
    assert set(trials["workload"]) == {"randread"}
    assert (trials["campaign"] == "mine").all()
    assert trials["trial"].is_unique
    assert trials["throughput_ops_s"].tolist() == pytest.approx(
        (trials["work_ops"] / trials["duration_s"]).tolist()
    )
    assert trials["energy_j"].isna().all()
    assert set(trials["boundary"]) == {"no energy"}
    assert set(trials["option"]) == {"default"}
    assert set(trials["cache"]) == {"not recorded"}
    kept = json.loads((folder / "campaign.json").read_text())["imported"]["files"]
    assert [(folder / entry["kept"]).read_bytes() for entry in kept] == [
        file.read_bytes() for file in files
    ]
    assert len((paths.results("mine") / "raw.sha256").read_text().splitlines()) == 12 + 4


def test_energy_needs_its_boundary_and_gives_work_per_energy(tmp_path):
    rows = [("ext4", 100, 10, 1000), ("ext4", 100, 10, 1010)]
    file = csv(tmp_path, rows, ("fs", "work_ops", "duration_s", "energy_j"))
    with pytest.raises(FsgreenError, match="--boundary wall"):
        imported([file], "fs=option")
    table = imported([file], "fs=option", boundary="cpu").runs
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
    aside = pd.read_csv(found.keep("mine", "Mine") / "aside.csv")
    assert aside["weather"].tolist() == ["hot"]
    assert aside["trial"].tolist() == found.runs["trial"].tolist()


def test_a_trace_of_energibridge_is_one_run(tmp_path):
    lines = ["Delta,Time,SYSTEM_POWER (Watts)"]
    lines += [f"200,{1_700_000_000_000 + 200 * n},20" for n in range(20)]
    file = tmp_path / "trace.csv"
    file.write_text("\n".join(lines) + "\n")
    (row,) = imported([file], boundary="dc-rail").runs.to_dict("records")
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
    imported([FIO]).keep("mine", "Mine")
    with pytest.raises(FsgreenError, match="already"):
        imported([FIO]).keep("mine", "Mine")


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


# --- the campaign ------------------------------------------------------------------------------


def runs_of(ext4, xfs, **more):
    """A table of runs of two file systems, by their operations in a second."""
    return pd.DataFrame(
        {
            "file_system": ["ext4"] * len(ext4) + ["xfs"] * len(xfs),
            "throughput_ops_s": [*ext4, *xfs],
            **more,
        }
    )


def analysed(runs, name="mine", boundary="no energy"):
    """The campaign that is made of a table of runs, analysed."""
    table = runs.assign(trial=[f"r{nth}" for nth in range(len(runs))])
    table["workload"] = table.get("workload", "runs")
    source = {"file": "a.csv", "kept": "files/a.csv", "decisions": []}
    source["sha256"] = hashlib.sha256(b"a").hexdigest()
    ImportedRuns("a format", table, pd.DataFrame(), (source,), (b"a",), boundary).keep(name, "Mine")
    reduce.write(name)
    confounds.write(name)
    standard.write(name)
    return fsgreen.open(name)


def test_rates_without_their_totals_are_averaged_harmonically():
    """60 and 30 a second over the same work are 40, not 45."""
    cells = analysed(runs_of([60.0, 30.0], [40.0, 40.0])).cells
    assert cells["throughput_ops_s"].tolist() == pytest.approx([40, 40])
    assert cells["n"].tolist() == [2, 2]
    assert not cells["enough"].any()


def test_rates_with_their_totals_are_total_over_total():
    table = pd.DataFrame({"work_ops": [100, 300], "duration_s": [1.0, 2.0]})
    table["throughput_ops_s"] = table["work_ops"] / table["duration_s"]
    assert analysed(table).cells["throughput_ops_s"].tolist() == pytest.approx([400 / 3])


def test_mean_power_is_a_mean():
    """Half the runs at 10 W and half at 30 W draw 20 W, which no harmonic mean says."""
    table = pd.DataFrame({"power_w": [10.0, 30.0]})
    assert analysed(table, boundary="wall").cells["power_w"].tolist() == [20]


def test_missing_values_leave_their_column_only():
    table = runs_of([10.0, math.nan, 12.0], [11.0], energy_j=[1.0, 2.0, 3.0, 4.0])
    cells = analysed(table, boundary="wall").cells.set_index("file_system")
    assert cells.loc["ext4", "n"] == 3
    assert cells.loc["ext4", "throughput_ops_s"] == pytest.approx(2 / (1 / 10 + 1 / 12))
    assert cells.loc["ext4", "energy_j"] == 2


def test_two_cells_are_compared_by_welch_where_no_blocks_are_known():
    """By hand: logs 0, 0.1, 0.2, 0.3, 0.4 and these + 1: t = 1 / sqrt(0.01) with 8 degrees."""
    logs = np.arange(5) / 10
    (row,) = analysed(runs_of(np.exp(logs), np.exp(1 + logs))).effects.to_dict("records")
    assert (row["file_system"], row["baseline_file_system"]) == ("ext4", "xfs")
    assert row["model"] == "Welch"
    assert row["ratio_x"] == pytest.approx(math.exp(-1))
    assert row["ratio_high_x"] == pytest.approx(math.exp(-1 + 2.306 * 0.1), rel=1e-4)
    assert row["difference_p"] == pytest.approx(8.488e-06, rel=1e-3)
    assert row["outcome"] == "different"
    assert row["gate"] == "unknown"


@pytest.mark.parametrize("first", [0, 1])
def test_runs_of_the_same_blocks_are_compared_inside_them(first):
    """Drift that hits both is no scatter of their ratio, from whatever number blocks count."""
    drift = np.array([1, 2, 4, 8, 16.0])
    noise = np.array([1, 1.01, 0.99, 1.01, 0.99])
    table = runs_of(100 * drift, 110 * drift * noise, block=[*range(first, first + 5)] * 2)
    (row,) = analysed(table).effects.to_dict("records")
    assert row["ratio_high_x"] < 0.93
    (unpaired,) = analysed(table.drop(columns="block"), "other").effects.to_dict("records")
    assert unpaired["ratio_low_x"] < 1 < unpaired["ratio_high_x"]


def test_few_runs_conclude_nothing_and_no_runs_are_ever_equal():
    (row,) = analysed(runs_of([1.0, 1.01], [5.0, 5.01])).effects.to_dict("records")
    assert row["difference_p"] < 0.01
    assert row["outcome"] == "inconclusive"
    (same,) = analysed(runs_of([1.0] * 6, [1.0] * 6), "other").effects.to_dict("records")
    assert (same["ratio_x"], same["outcome"]) == (1, "inconclusive")
    assert math.isnan(same["bound_percent"])


def test_a_single_run_has_a_value_and_no_interval():
    mine = analysed(pd.DataFrame({"duration_s": [3.0]}))
    (cell,) = mine.cells.to_dict("records")
    assert (cell["duration_s"], cell["n"]) == (3, 1)
    assert math.isnan(cell["duration_low_s"])
    assert mine.effects.empty


def test_workloads_are_not_compared_with_each_other_nor_in_what_one_lacks():
    rates = [1.0] * 6 + [math.nan] * 6
    table = runs_of([1.0] * 6, [2.0] * 6, workload=["web"] * 6 + ["mail"] * 6)
    assert analysed(table).effects.empty
    table = runs_of([1.0] * 6, rates[6:], duration_s=[1.0] * 12)
    assert set(analysed(table, "other").effects["metric"]) == {"duration"}


def test_a_level_that_some_runs_do_not_name_is_none_of_theirs():
    """As of two tables of which one has a column more."""
    table = pd.DataFrame({"file_system": "ext4", "duration_s": np.arange(10.0) + 1})
    mine = analysed(table.assign(option=["noatime"] * 5 + [math.nan] * 5))
    assert mine.cells.groupby("option")["n"].first().to_dict() == {"default": 5, "noatime": 5}
    other = analysed(table.assign(cache=["warm"] * 5 + [math.nan] * 5), "other")
    assert set(other.cells["cache"]) == {"warm", "not recorded"}


def test_a_default_is_the_baseline():
    options = ["aaa"] * 5 + ["default"] * 5 + ["zzz"] * 5
    effects = analysed(pd.DataFrame({"option": options, "duration_s": np.arange(15.0) + 1})).effects
    assert set(effects["baseline_option"]) == {"default"}
    assert set(effects["option"]) == {"aaa", "zzz"}


def test_levels_that_look_like_numbers_stay_names():
    rows = {"option": ["1"] * 5 + ["2"] * 5, "throughput_ops_s": [*range(1, 6), *range(11, 16)]}
    (row,) = analysed(pd.DataFrame(rows)).effects.to_dict("records")
    assert {row["option"], row["baseline_option"]} == {"1", "2"}


def test_the_rules_say_what_an_import_cannot_tell():
    mine = analysed(runs_of([1.0, 1.1], [2.0, 2.1]))
    trust = mine.trust.set_index("rule")
    untold = [1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 23, 25, 27, 29, 37, 39]
    assert set(trust.loc[untold, "state"]) == {"unknown"}
    assert trust.loc[26, "state"] == "fired"
    assert trust.loc[22, "state"] == "quiet"
    assert trust.loc[19, "found"] == "the runs have no energy"
    assert not trust["found"].str.contains("older version").any()
    assert {row["baseline_file_system"] for row in mine.effects.to_dict("records")} == {"xfs"}


def test_a_file_that_was_changed_after_the_import_is_told():
    analysed(runs_of([1.0], [2.0]))
    (paths.raw("mine") / "files/a.csv").write_bytes(b"b")
    with pytest.raises(FsgreenError, match=r"files/a.csv: its hash is not the one recorded"):
        reduce.write("mine")
    standard.write("mine")
    assert fsgreen.open("mine").trust.set_index("rule").loc[22, "state"] == "fired"


def test_status_tells_of_runs_and_the_records_that_they_lack():
    mine = analysed(runs_of([1.0] * 6, [2.0]))
    lines = "\n".join(status(Campaign("mine")))
    assert "7 runs of 2 cells, imported from 1 files" in lines
    assert "1 cells have fewer than 5 runs (rule 26): runs/xfs 1" in lines
    with pytest.raises(FsgreenError, match="no records and no traces"):
        mine.trace("r0")


def test_the_columns_are_those_of_a_measured_campaign():
    """Whatever reads trials.csv finds its columns, also where they are empty."""
    synthetic.write_raw("measured", synthetic.make_plan())
    analysed(runs_of([1.0], [2.0]))
    for name in ("measured", "mine"):
        reduce.write(name)
    for table in ("trials", "series", "latency", "finishes"):
        measured, mine = (set(reduce.read_table(name, table)) for name in ("measured", "mine"))
        assert mine <= measured
        assert {column for column in measured - mine if not OF_METERS.match(column)} == set()


@pytest.mark.notebook
def test_the_command_imports_analyses_and_reports(tmp_path, capsys):
    files = fio_files(tmp_path, {"ext4": 1, "xfs": 1.2})
    arguments = ["import-runs", *map(str, files), "--name", "mine", "--title", "Two of them"]
    assert cli.main([*arguments, "--path", "{file_system}/{block}.json"]) == 0
    shown = capsys.readouterr().out
    assert "12 runs of 2 cells, imported from 12 files" in shown
    assert "file system, throughput: 1 different" in shown
    assert (paths.results("mine") / "report.pdf").read_bytes().startswith(b"%PDF")
    numbers = json.loads((paths.results("mine") / "numbers.json").read_text())
    assert numbers["paper"]["title"] == "Two of them"


def test_the_command_has_help_with_an_example(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["import-runs", "--help"])
    assert left.value.code == 0
    assert "example: fsgreen import-runs" in capsys.readouterr().out


def test_the_command_asks_for_what_is_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pipeline, "after_measure", lambda _: None)
    file = csv(tmp_path, [("ext4", 5, 7)], ("fs", "energy", "humidity"))
    assert cli.main(["import-runs", str(file), "--name", "mine"]) == 1
    assert "--map 'energy=energy_kwh'" in capsys.readouterr().err
    maps = ["--map", "energy=energy_j", "--boundary", "wall"]
    assert cli.main(["import-runs", str(file), "--name", "mine", *maps]) == 0
    assert "aside     fs, humidity" in capsys.readouterr().out
