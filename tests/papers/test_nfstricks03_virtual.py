"""A study in virtual time: what is asked of the simulator, and what is kept of its answers."""

import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from fsgreen import cli, design, paths
from fsgreen.errors import FsgreenError
from fsgreen.papers.nfstricks03 import experiments, virtual
from fsgreen.papers.nfstricks03 import read_ahead as read_ahead_of

NIGHTLY = "FSGREEN_NIGHTLY" in os.environ
START_NS = 5_000_000
DISKS = ("wd200bb", "ddys-t36950n")

LOG = "issued_ns,sent_ns\n0,5\n1,9\n6,15\n7,20\n8,25\n30,30\n"
"""Sweeps of two, three and one: the third request comes when the first sweep is fixed."""


DECIDED = {
    "count_b": [8192, 8192, 8192],
    "evicted": [None, None, 7],
    "sequential_count": [1, 3, 2],
    "ahead_b": [0, 16384, 8192],
}


class Engine(SimpleNamespace):
    """A simulator in which reader k of n is done after k seconds; it keeps what it was asked."""

    def __init__(self):
        super().__init__(asked=[])

    def version(self):
        return "fsgreen-simdisk test"

    def profiles(self):
        return dict.fromkeys((*DISKS, "other"), "[geometry]\nsectors = 40960\n")

    def decisions(self, read_ahead, reads=None, requests=None):
        assert json.loads(read_ahead)["heuristic"] in read_ahead_of.HEURISTICS
        assert (reads is None) != (requests is None)
        return DECIDED

    def simulate(self, text):
        asked = json.loads(text)
        self.asked.append(asked)
        readers = asked["work"]["readers"]["readers"]
        done = [START_NS + nth * 10**9 for nth in range(readers, 0, -1)]
        return {
            "start_ns": START_NS,
            "end_ns": max(done),
            "read_b": asked["work"]["readers"]["total_mib"] * 2**20,
            "requests_count": 1000,
            "device_order": {"overtaken_count": 25},
            "response_ns": {"mean": 4_000_000, "max": 10**9},
            "energy": {"total_fj": 7 * 10**15},
            "readers": [{"done_ns": at_ns} for at_ns in done],
            "log": LOG if asked.get("log") else None,
        }


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """The simulator above in the place of the real one, and an empty data folder."""
    fake = Engine()
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "fsgreen_engine", fake)
    return fake


def test_every_trial_of_the_plan_is_asked_for_as_its_cell_says(engine):
    virtual.simulate("nfstricks03", "quick", "mine")
    plan = design.make_plan(design.load_study("nfstricks03"), "quick")
    for planned, asked in zip(plan.trials, engine.asked, strict=False):
        cell, readers = planned.cell, asked["work"]["readers"]
        assert asked["disk"] == cell["disk"]
        assert asked["overrides"] == {"depth": cell["queue_depth"]}
        assert asked["scheduler"] == plan.levels(cell)["scheduler"]
        assert (readers["readers"], readers["partition"]) == (
            cell.get("readers"),
            cell["partition"],
        )
        assert (readers["total_mib"], readers["seed"]) == (64, planned.seed)
        assert readers["map_kib"] == {"ext2": 4096, "ext4": 0, "xfs": 0}[cell["file_system"]]


@pytest.mark.parametrize("level", [{"file_system": "btrfs"}, {"option": "blk1k"}])
def test_a_file_system_without_a_model_of_its_map_is_left_out_and_named(engine, monkeypatch, level):
    """It would be run with the map of another; blocks of 1 KiB have one of 256 KiB."""
    study = design.load_study("nfstricks03")
    cells = tuple(cell.but(**level) for cell in study.matrices["ide_few"])
    mixed = replace(
        study,
        baseline=study.baseline.but(**level),
        matrices={"ide_few": cells, "scsi_few": study.matrices["scsi_few"]},
        profiles={"quick": replace(study.profiles["quick"], matrices=("ide_few", "scsi_few"))},
    )
    monkeypatch.setattr(design, "load_study", lambda name: mixed)
    folder = virtual.simulate("nfstricks03", "quick", "mine")
    left_out = json.loads((folder / "simulated.json").read_text())["left_out"]
    assert len(left_out) == 4
    assert all(next(iter(level.values())) in label for label in left_out)


def test_what_is_kept_is_read_again(engine):
    folder = virtual.simulate("nfstricks03", "quick", "mine")
    assert folder == paths.raw("mine") / "virtual"
    found = virtual.read("mine")
    assert found.plan.profile.name == "quick"
    eight = found.trials[found.trials["readers"] == 8].iloc[0]
    assert eight["duration_s"] == 8
    assert eight["bandwidth_b_s"] == 8 * 2**20
    assert eight["energy_j"] == 7
    assert eight["reordered_percent"] == 2.5
    ended_s = found.finishes[found.finishes["trial"] == eight["trial"]]["ended_s"]
    assert ended_s.tolist() == list(range(1, 9))
    assert set(virtual.disk_files("mine")) == set(DISKS)
    whole = found.waits[found.waits["scan_s"].notna()]
    assert set(whole["scheduler"]) == {"elevator", "n-cscan"}
    assert whole["scan_s"].eq(1 + START_NS / 1e9).all()
    assert whole["longest_s"].eq(1).all()
    files = found.waits.dropna(subset="queue_requests_count")
    assert files["queue_requests_count"].unique() == pytest.approx([(4 + 9 + 1) / 6])
    assert files.groupby(["disk", "readers"]).size().eq(experiments.WAIT_BLOCKS).all()
    sizes = found.sizes[found.sizes["file_system"] == "xfs"]
    assert set(sizes["total_mib"]) == set(experiments.SIZES_MIB)
    assert (sizes["first_s"].eq(1) & sizes["last_s"].eq(8)).all()
    jumps = found.decisions[found.decisions["case"] == "jumps"]
    assert set(jumps["heuristic"]) == set(read_ahead_of.HEURISTICS)
    counts = jumps[["first_count", "last_count", "most_count", "mean_count"]]
    assert counts.eq([1, 2, 3, 2]).all(axis=None)
    bytes_and_files = jumps[["read_b", "ahead_b", "evicted_count"]]
    assert bytes_and_files.eq([3 * 8192, 3 * 8192, 1]).all(axis=None)
    assert virtual.read("another") is None
    assert virtual.disk_files("another") == {}


def test_the_same_study_gives_the_same_bytes(engine):
    folder = virtual.simulate("nfstricks03", "quick", "mine")
    before = {file.name: file.read_bytes() for file in folder.rglob("*.*") if file.is_file()}
    virtual.simulate("nfstricks03", "quick", "mine")
    assert {f.name: f.read_bytes() for f in folder.rglob("*.*") if f.is_file()} == before


def test_a_run_that_was_stopped_leaves_the_one_before_as_it_was(engine, monkeypatch):
    """New tables under old hashes would stop every analysis of the campaign."""
    virtual.simulate("nfstricks03", "quick", "mine")
    before = virtual.read("mine").trials

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(virtual, "write_json", stop)
    with pytest.raises(KeyboardInterrupt):
        virtual.simulate("nfstricks03", "lab", "mine")
    assert virtual.read("mine").trials.equals(before)
    with pytest.raises(KeyboardInterrupt):
        virtual.simulate("nfstricks03", "quick", "other")
    assert virtual.read("other") is None


def test_a_scheduler_without_a_model_is_left_out_and_named(engine):
    """There is no model of kyber; that of mq-deadline is called otherwise."""
    folder = virtual.simulate("nfstricks03", "lab", "mine")
    left_out = json.loads((folder / "simulated.json").read_text())["left_out"]
    assert len(left_out) == 3
    assert all("kyber" in label for label in left_out)
    assert {asked["scheduler"] for asked in engine.asked} == set(experiments.MODELS.values()) - {
        "sstf"
    }


def test_a_changed_table_is_not_read(engine):
    folder = virtual.simulate("nfstricks03", "quick", "mine")
    table = pd.read_csv(folder / "finishes.csv")
    table.assign(ended_s=1.0).to_csv(folder / "finishes.csv", index=False)
    with pytest.raises(FsgreenError, match=r"finishes.csv is not the file that was written"):
        virtual.read("mine")
    (folder / "simulated.json").unlink()
    with pytest.raises(FsgreenError, match="not whole") as caught:
        virtual.read("mine")
    assert "fsgreen simulate" in caught.value.next_step


@pytest.mark.parametrize("table", virtual.ADDED)
def test_what_an_older_version_simulated_lacks_what_came_later(engine, table):
    folder = virtual.simulate("nfstricks03", "quick", "mine")
    identity = json.loads((folder / "simulated.json").read_text())
    del identity["files"][f"{table}.csv"]
    (folder / "simulated.json").write_text(json.dumps(identity))
    (folder / f"{table}.csv").unlink()
    found = virtual.read("mine")
    assert getattr(found, table).empty
    assert len(found.trials)


def test_a_study_without_simulated_disks_is_refused(engine):
    with pytest.raises(FsgreenError, match="no readers of a simulated disk"):
        virtual.simulate("fast10", "quick")
    assert not engine.asked


def test_what_the_simulator_refuses_names_the_cell(engine, monkeypatch):
    def refuse(text):
        raise ValueError("the files do not fit")

    monkeypatch.setattr(engine, "simulate", refuse)
    with pytest.raises(FsgreenError, match="do not fit") as caught:
        virtual.simulate("nfstricks03", "quick")
    assert "sequential-readers-ext2" in caught.value.where


def test_without_the_engine_the_next_step_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsgreen_engine", None)
    with pytest.raises(FsgreenError, match="not installed") as caught:
        virtual.simulate("nfstricks03", "quick")
    assert caught.value.next_step == "./run engine"


def test_an_older_engine_is_told_before_anything_runs(engine, monkeypatch):
    monkeypatch.setattr(Engine, "decisions", property())
    with pytest.raises(FsgreenError, match="older") as caught:
        virtual.simulate("nfstricks03", "quick")
    assert caught.value.next_step == "./run engine"
    assert not engine.asked


def test_the_command_says_where_it_is(engine, capsys):
    assert cli.main(["simulate", "nfstricks03", "--name", "mine"]) == 0
    assert capsys.readouterr().out.strip() == str(paths.raw("mine") / "virtual")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The tables of two runs of the real simulator, and what is read of the second.

    By night the study is asked as it ships, but for shorter files of its trials.
    """
    engine = pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    if not hasattr(engine, "decisions"):
        pytest.skip("the engine is older than this fsgreen: run ./run engine")
    study = design.load_study("nfstricks03")
    quick = study.profiles["quick"]
    scale = {"sequential-readers": 1 / 32}
    short = replace(quick, blocks=quick.blocks if NIGHTLY else 1, scale=scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("real")))
        patch.setattr(design, "load_study", lambda name: replace(study, profiles={"quick": short}))
        if not NIGHTLY:
            patch.setattr(experiments, "WAIT_BLOCKS", 1)
        runs = []
        for _ in range(2):
            folder = virtual.simulate("nfstricks03", "quick", "mine")
            runs.append({file.name: file.read_bytes() for file in folder.glob("*.csv")})
        yield runs, virtual.read("mine")


def test_the_real_simulator_gives_the_same_bits_each_time(real):
    """A reviewer with the engine gets the shipped tables again."""
    (before, now), found = real
    assert before == now
    assert {*now} == {f"{table}.csv" for table in virtual.TABLES}
    assert (found.finishes["ended_s"] > 0).all()


def test_a_block_map_makes_the_elevator_fair_in_the_real_simulator(real):
    """Readers without metadata were unfair as on extents, and were held against ext2."""
    _, found = real
    sizes = found.sizes
    sizes = sizes[sizes["scheduler"].eq("elevator") & sizes["queue_depth"].eq(1)]
    spread_x = (sizes["last_s"] / sizes["first_s"]).groupby(sizes["file_system"])
    assert spread_x.max()["ext2"] < 2.5
    assert spread_x.min()[["ext4", "xfs"]].min() > 6
