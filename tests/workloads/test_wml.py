"""Workloads as campaigns use them."""

import hashlib
import subprocess
import threading
import time
from pathlib import Path

import pytest

from fsgreen import units, workloads
from fsgreen.errors import FsgreenError
from fsgreen.workloads import wml
from tests.patience import until_calm, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("engine")]

SCALE = 0.01
SCALES = {"fileserver-sun14": 0.05, "varmail-sun14": 0.2, "webserver-sun14": 0.2}
"""Larger where a hundredth would be too few files for their mean size."""
SEED = 7
FINITE = {
    "compile",
    "create-append",
    "create-append-fsync",
    "ring-reader",
    "sequential-readers",
    "startup",
    "stride-reader",
}
"""Those that end by themselves: see test_finite."""


@pytest.mark.parametrize("name", sorted({*workloads.names()} - FINITE))
def test_every_endless_workload_does_work_without_errors(name: str, tmp_path: Path) -> None:
    workload = workloads.load_workload(name, SCALES.get(name, SCALE))
    workload.check()
    prepared = workload.prepare(tmp_path, SEED)
    assert prepared["files_count"] == sum(path.is_file() for path in tmp_path.rglob("*"))
    assert prepared["size_b"] <= workload.size_b * 1.1
    before_s = time.monotonic()
    outcome = workload.run(tmp_path, SEED, 0.2, 1.5)
    assert outcome.summary.errors == {}
    assert outcome.summary.partial is False
    assert outcome.summary.work_ops > 0

    warmup, measure = outcome.phases
    assert before_s < warmup.start_s < warmup.end_s == measure.start_s
    assert measure.end_s < time.monotonic()
    assert measure.name == "measure"
    assert measure.duration_s == pytest.approx(1.5, abs=1e-6)

    ops = units.check_columns(outcome.ops)
    assert list(ops["duration_s"]) == pytest.approx([1.0, 0.5], abs=1e-6)
    assert ops["time_s"].iloc[-1] == pytest.approx(measure.end_s)
    for total in ("work_ops", "read_b", "write_b"):
        assert ops[total].sum() == getattr(outcome.summary, total)

    latency = units.check_columns(outcome.latency)
    assert latency["work_ops"].sum() == outcome.summary.work_ops
    assert (latency["lower_ns"] < latency["upper_ns"]).all()
    assert not set(latency["operation"]) & {"opslimit", "hog", "semblock", "sempost"}


def test_a_load_level_is_kept(tmp_path: Path) -> None:
    """The load sweep of figure 1 would have the wrong abscissa."""
    workload = workloads.load_workload("webserver", SCALE)
    workload.prepare(tmp_path, SEED)

    def done_ops_s() -> float:
        outcome = workload.run(tmp_path, SEED, 0.5, 3.0, load_ops_s=2000)
        assert (outcome.ops["work_ops"] < 1.15 * 2000).all()
        assert outcome.summary.throughput_ops_s < 1.03 * 2000
        return outcome.summary.throughput_ops_s

    # A machine that stands still does less, but never more.
    assert until_calm(done_ops_s, lambda rate_ops_s: rate_ops_s > 0.9 * 2000) > 0.9 * 2000


def test_stopping_early_gives_a_partial_outcome(tmp_path: Path) -> None:
    workload = workloads.load_workload("varmail", SCALE)
    workload.prepare(tmp_path, SEED)
    stop, prepared = threading.Event(), {*tmp_path.rglob("*")}

    def stop_once_it_works() -> None:
        wait_for(lambda: {*tmp_path.rglob("*")} != prepared)
        time.sleep(1.0)
        stop.set()

    threading.Thread(target=stop_once_it_works).start()
    outcome = workload.run(tmp_path, SEED, 0.1, 600.0, stop=stop)
    assert outcome.summary.partial is True
    assert outcome.summary.reason == "stopped by SIGTERM"
    assert 0 < outcome.summary.duration_s < 600
    assert outcome.ops["duration_s"].sum() == pytest.approx(outcome.summary.duration_s)


def test_files_of_another_seed_are_refused(tmp_path: Path) -> None:
    workload = workloads.load_workload("varmail", SCALE)
    workload.prepare(tmp_path, SEED)
    with pytest.raises(FsgreenError, match=r"not as prepared(.|\n)*next:  prepare it again"):
        workload.run(tmp_path, SEED + 1, 0.1, 1.0)


def test_a_missing_directory_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    workload = workloads.load_workload("varmail", SCALE)
    with pytest.raises(FsgreenError, match=r"is not a directory\n  next:  mkdir"):
        workload.prepare(tmp_path / "none", SEED)


def test_a_wrong_text_is_reported_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.f"
    file.write_text("set $scale=1\ndefine nonsense\n")
    with pytest.raises(FsgreenError, match=r"nonsense(.|\n)*mine\.f:2:8"):
        wml.WmlWorkload("mine", file, 1.0).check()


OWN = """
define fileset name=files, path=$dir, entries=10, size=1k, dirwidth=20, prealloc
define process name=p { thread name=t { flowop statfile name=s, filesetname=files } }
"""


def own(tmp_path: Path, text: str, scale: float = 1.0) -> workloads.Workload:
    file = tmp_path / "mine.f"
    file.write_text(text)
    return workloads.load_workload(str(file), scale)


def test_a_text_of_the_users_own_is_a_workload(tmp_path: Path) -> None:
    workload = own(tmp_path, OWN + "run")
    workload.check()
    (tmp_path / "files").mkdir()
    assert workload.prepare(tmp_path / "files", SEED)["files_count"] == 10
    outcome = workload.run(tmp_path / "files", SEED, 0.0, 0.5)
    assert (workload.name, outcome.summary.notes) == ("mine", ())
    assert set(outcome.latency["flowop"]) == {"s"}


def test_an_edited_text_is_another_workload(tmp_path: Path) -> None:
    """Its name stays, so that nothing else would tell the campaign that goes on (rule 9)."""
    workload = own(tmp_path, OWN + "run")
    first = workload.text_sha256()
    assert first == hashlib.sha256((OWN + "run").encode()).hexdigest()
    (tmp_path / "mine.f").write_text(OWN.replace("1k", "2k") + "run")
    assert workload.text_sha256() != first
    (tmp_path / "mine.f").unlink()
    with pytest.raises(FsgreenError, match=r"text of the workload mine cannot be read"):
        workload.text_sha256()


@pytest.mark.parametrize(
    ("text", "scale", "ignored"),
    [(OWN + "run", 0.5, "scale"), (OWN.replace("$dir", "/tmp") + "run", 1.0, "dir")],
)
def test_a_text_that_ignores_scale_or_directory_is_refused(
    text: str, scale: float, ignored: str, tmp_path: Path
) -> None:
    """It would be measured at another size, or on another file system, than the record says."""
    with pytest.raises(FsgreenError, match=ignored):
        own(tmp_path, text, scale).check()


def test_a_text_that_a_trial_cannot_measure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="has no run"):
        own(tmp_path, OWN).check()
    (tmp_path / "files").mkdir()
    workload = own(tmp_path, OWN + "run run")
    workload.prepare(tmp_path / "files", SEED)
    with pytest.raises(FsgreenError, match="has 2 runs"):
        workload.run(tmp_path / "files", SEED, 0.0, 0.1)


@pytest.mark.loop
def test_a_full_file_system_is_an_error_not_a_result(tmp_path: Path) -> None:
    """The web server's log grows until the disk is full."""
    workload = workloads.load_workload("webserver", SCALE)
    size = f"size={workload.size_b * 1.3 // 2**20 + 2:.0f}m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", tmp_path], check=True)
    try:
        workload.prepare(tmp_path, SEED)
        with pytest.raises(FsgreenError, match=r"full: \d+ operations(.|\n)*next:  choose"):
            for measure_s in (3.0, 30.0):  # on a busy machine it takes longer
                workload.run(tmp_path, SEED, 0.1, measure_s)
        with pytest.raises(FsgreenError, match=r"no space for(.|\n)*next:  choose"):
            workloads.load_workload("oltp", SCALE).prepare(tmp_path, SEED)
    finally:
        subprocess.run(["umount", tmp_path], check=True)
