"""What the scripts of bench/ rest on; no test here depends on how fast a machine is."""

import argparse
import importlib
import re
import shutil
from pathlib import Path

import pytest

from bench import analysis_rate, filebench, operation_cost, programs, servers, texts
from bench.personalities import PERSONALITIES
from bench.processes import Used, run
from bench.programs import Work
from bench.rounds import Spread, interleaved
from fsgreen import paths, reduce
from fsgreen.errors import FsgreenError
from fsgreen.trace import check_trace
from fsgreen.trial import read_trial
from tests.patience import wait_for

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler: apt-get install gcc"
)
needs_engine = pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="engine not installed: run ./run engine"
)

# Filebench 1.5-alpha3 takes none of these as a name, not even in quotes.
RESERVED = """set define create eventgen run psrun sleep system echo list debug version quit enable
    domultisync file files fileset filesets process processes thread flowop randvar mode multi cvar
    alldone blocking client dirwidth dirdepthrv directio dirgamma dsync entries fd filename
    filesetname filesize firstdone gamma highwater indexed instances iosize iters leafdirs master
    mean memsize ioprio min max name nice opennext paralloc parameters path prealloc random randsrc
    randtable rate readonly writeonly reuse round seed size srcfd target timeout trusttree type
    useism value workingset nousestats lathist uniform tabular urandom rand48 noreadahead
    in"""
PLACE = Path("/a/place")
TEXTS = {
    **{kind: texts.operation(kind, PLACE, 3) for kind in texts.OPERATIONS},
    **{name: define(PLACE, 0.01) for name, define in PERSONALITIES.items()},
}


def test_a_drift_of_the_machine_favours_no_way() -> None:
    order: list[str] = []
    ways = {name: lambda name=name: order.append(name) for name in "abc"}
    interleaved(ways, 4)
    assert "".join(order) == "abccbaabccba"


def test_a_spread_tells_the_median_from_the_extremes() -> None:
    assert f"{Spread.of([3.0, 1.0, 9.0]):.1f}" == "3.0 (1.0 to 9.0)"


def test_costs_are_compared_with_the_loop_of_the_same_round() -> None:
    def work(user_s: float) -> Work:
        return Work(work_ops=1_000_000, duration_s=1.0, user_s=user_s, system_s=0.5)

    results = {
        "loop": [work(0.2), work(0.4), work(0.6)],
        "engine": [work(0.3), work(0.6), work(0.9)],
        "Filebench": [None, work(0.9), None],
    }
    added_us = operation_cost.more(results, "engine", "cpu_us")
    assert added_us is not None
    assert (added_us.least, added_us.median, added_us.greatest) == pytest.approx((0.1, 0.2, 0.3))
    its_us = operation_cost.more(results, "Filebench", "user_us")
    assert its_us is not None and its_us.median == pytest.approx(0.5)
    assert operation_cost.more({**results, "Filebench": [None] * 3}, "Filebench", "cpu_us") is None


def test_filebench_is_not_charged_for_making_its_trees() -> None:
    printed = "4.1: IO Summary: 30000 ops 1500.000 ops/s 0/0 rd/wr 0.0mb/s 0.007ms/op\n"
    work = filebench.work(Used(printed, 9.0, 0.5, 2.0), Used("", 3.0, 0.2, 0.5))
    assert work == Work(30000, 20.0, pytest.approx(0.3), 1.5)


def test_an_aborted_filebench_is_no_result_instead_of_a_wrong_one() -> None:
    printed = "Run stopped early: could not obtain a file. Please reduce runtime\n"
    assert filebench.work(Used(printed, 9.0, 0.5, 2.0), Used("", 3.0, 0.2, 0.5)) is None


def test_a_run_that_was_cut_short_is_not_compared() -> None:
    cut = {"partial": True, "reason": "interrupted by SIGINT", "measure": {}}
    with pytest.raises(FsgreenError, match="SIGINT"):
        programs.first_run({"file": "x.f", "runs": [cut]})


def test_a_program_that_fails_says_why() -> None:
    with pytest.raises(FsgreenError, match="status 3: no such thing"):
        run(["sh", "-c", "echo no such thing >&2; exit 3"])


def test_a_program_is_charged_for_its_children() -> None:
    burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"

    def charged_s(script: str) -> float:  # the least of some: others may use the core, too
        runs = [run(["sh", "-c", script]) for _ in range(3)]
        return min(used.user_s + used.system_s for used in runs)

    assert 0 < charged_s(burn) < charged_s(f"({burn}); {burn}")


def test_nothing_that_a_program_started_outlives_it() -> None:
    pid = int(run(["sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"]).output)
    stat = Path(f"/proc/{pid}/stat")
    wait_for(
        lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] in "ZX",
        "still running",
    )


@pytest.mark.parametrize("name", TEXTS)
def test_filebench_understands_the_texts(name: str) -> None:
    text = TEXTS[name]
    names = re.findall(r"\bname=([^,\s]+)", text)
    assert names and not set(RESERVED.split()) & set(names)
    assert all(re.fullmatch(r"[A-Za-z][\w/.:;-]*", given) for given in names)
    assert not re.search(r"=[^,\s]*[*+(]|=\d*\.\d|\$\{", text.replace("=randvar(", "="))


@needs_engine
@pytest.mark.parametrize("name", TEXTS)
def test_the_engine_understands_the_texts(name: str, tmp_path: Path) -> None:
    file = tmp_path / "text.f"
    file.write_text(TEXTS[name] + "run 1\n")
    run([str(paths.program("fsgreen-wml")), "check", str(file)])


@pytest.mark.parametrize("name", ["webserver", "fileserver", "varmail", "oltp"])
def test_the_servers_are_those_that_ship(name: str) -> None:
    def flowops(text: str) -> list[str]:
        return re.findall(r"^\s*flowop (\w+)", text, re.MULTILINE)

    shipped = paths.root() / "fsgreen" / "workloads" / "personalities" / f"{name}.f"
    limited = flowops(shipped.read_text())
    assert flowops(TEXTS[name]) == [flowop for flowop in limited if flowop != "opslimit"]


def test_no_other_tree_stands_beside_the_one_that_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two equal trees one had the better memory, which favoured its program by 10 to 20 %."""
    trees: list[list[str]] = []
    work = Work(work_ops=1, duration_s=1.0, user_s=0.1, system_s=0.1)

    def used(who: str) -> Work:
        trees.append(sorted(file.name for file in tmp_path.glob("*/*")))
        (tmp_path / "files" / who).mkdir()
        return work

    monkeypatch.setattr(programs, "prepare", lambda text: None)
    monkeypatch.setattr(programs, "by_loop", lambda *_: used("loop"))
    monkeypatch.setattr(programs, "by_engine", lambda _: (used("engine"), Used("", 1, 0.1, 0.1)))
    monkeypatch.setattr(filebench, "is_installed", lambda: True)
    monkeypatch.setattr(filebench, "by_filebench", lambda *_: used("Filebench"))
    asked = argparse.Namespace(rounds=2, seconds=1)
    results = operation_cost.measured("loop", "stat", tmp_path, 1, asked)
    assert {way: len(found) for way, found in results.items()} == dict.fromkeys(
        ("loop", "engine", "Filebench"), 2
    )
    assert trees == [[]] * 6


@needs_compiler
def test_the_loop_does_every_operation_and_leaves_the_files(tmp_path: Path) -> None:
    loop = programs.build_loop("operations", tmp_path)
    tree = tmp_path / "tree" / "00000001"
    tree.mkdir(parents=True)
    for nth in range(5):
        (tree / f"{nth:08}").write_bytes(b"." * (1 << 20))
    for kind in texts.OPERATIONS:
        work = programs.by_loop(loop, kind, tree.parent, threads=3, seconds=0.05)
        assert work.work_ops > 0, kind
        assert sorted(file.name for file in tree.iterdir()) == [f"{n:08}" for n in range(5)]
        assert all(file.stat().st_size == 1 << 20 for file in tree.iterdir())


@needs_compiler
def test_the_loop_of_the_mail_server_does_whole_passes_and_ends_without_files(
    tmp_path: Path,
) -> None:
    loop = programs.build_loop("operations", tmp_path)
    tree = tmp_path / "tree"
    tree.mkdir()
    for nth in range(20):
        (tree / f"{nth:08}").write_bytes(b"." * 5000)
    kind = servers.LOOPS["varmail"]
    work = programs.by_loop(loop, kind, tree, threads=3, seconds=0.05)
    flowops = PERSONALITIES["varmail"](PLACE, 1.0).count("flowop ")
    assert work.work_ops > 0 and work.work_ops % flowops == 0
    assert not list(tree.iterdir())


@needs_compiler
@pytest.mark.parametrize("how", ["threads", "processes"])
def test_the_loop_creates_as_many_files_as_the_engine_is_asked_for(
    how: str, tmp_path: Path
) -> None:
    loop = programs.build_loop("creation", tmp_path)
    place = tmp_path / "place"
    place.mkdir()
    run([loop, how, "2", str(place), "90"])
    files = [file for file in place.rglob("*") if file.is_file()]
    assert len(files) == 90 and all(file.stat().st_size == 4096 for file in files)


SCRIPTS = (
    *("operation_cost", "servers", "scaling", "creation", "memory", "pool", "guest", "stacked"),
    "history",
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_explains_itself_with_an_example(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [script, "--help"])
    with pytest.raises(SystemExit, match="0"):
        importlib.import_module(f"bench.{script}").arguments()
    assert f"python -m bench.{script} " in capsys.readouterr().out


def test_the_campaign_of_the_analysis_is_one_that_can_be_analysed(tmp_path: Path, monkeypatch):
    """A bench of refusals, or of flawed traces, would say nothing."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    plan = analysis_rate.plan_of(1000, 20)
    assert len(plan.trials) >= 1000
    analysis_rate.begin(plan)
    for planned in plan.trials[:2]:
        analysis_rate.write_trial(plan.hash, plan.profile, planned)
    reduce.write(analysis_rate.CAMPAIGN)
    trials = reduce.read_table(analysis_rate.CAMPAIGN, "trials")
    assert trials["power_w"].between(230, 260).all()
    assert trials["duration_s"].tolist() == [20, 20]
    assert len(reduce.read_table(analysis_rate.CAMPAIGN, "latency")) == 2 * analysis_rate.FLOWOPS
    folder = paths.raw(analysis_rate.CAMPAIGN) / "trials" / plan.trials[0].trial
    found = read_trial(folder)
    measured, power = found.phase("measure"), found.table("power")
    for name, info in analysis_rate.METERS.items():
        readings = power[power["meter"] == name]
        assert check_trace(readings, measured.start_s, measured.end_s, 1.0, info=info) == []
