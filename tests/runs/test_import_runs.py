"""From files of runs to tables and a report that says what it cannot know."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from damaged_files import OUTPUTS, fuzzed, read
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import cli, paths, pipeline, reduce
from fsgreen.errors import FsgreenError
from fsgreen.runs import energibridge, import_runs
from fsgreen.runs.meanings import levels_of, meanings_of, path_pattern

pytestmark = pytest.mark.usefixtures("data")

FIO = OUTPUTS / "fio_randread.json"


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


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    """Twelve times `run.json` says nothing of where a run came from; nor is the whole path told."""
    files = fio_files(tmp_path, {"ext4": 100, "xfs": 200}, runs=1)
    (same,) = {file.name for file in files}
    assert [source["file"] for source in imported(files).sources] == [f"ext4/{same}", f"xfs/{same}"]
    assert [source["file"] for source in imported(files[:1]).sources] == [same]


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


@pytest.mark.notebook
def test_the_command_imports_analyses_and_reports(tmp_path, capsys):
    files = fio_files(tmp_path, {"ext4": 1, "xfs": 1.2})
    arguments = ["import-runs", *map(str, files), "--name", "mine", "--title", "Two of them"]
    assert cli.main([*arguments, "--path", "{file_system}/{block}.json"]) == 0
    shown = capsys.readouterr().out
    assert "12 runs of 2 cells, imported from 12 files" in shown
    assert "file system, throughput, against xfs: 1 different" in shown
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
