"""A workload that a study declares as a command: fio first of all, and any program for its time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from fsgreen import units, workloads
from fsgreen.errors import FsgreenError
from fsgreen.reduce import log2_profile
from fsgreen.workloads import WorkloadFailed
from fsgreen.workloads.command import fio
from tests.patience import LIMIT_S, until_calm, wait_for

needs_fio = pytest.mark.skipif(
    shutil.which("fio") is None, reason="fio is not installed: apt-get install fio"
)

SEED = 7
RANDRW = [
    "fio",
    "--name=mixed",
    "--directory={directory}",
    "--size=8m",
    "--rw=randrw",
    "--bs={block_size_b}",
    "--numjobs={jobs}",
    "--rate_iops={load_ops_s}",
    "--ramp_time={warmup_s}",
    "--runtime={measure_s}",
    "--time_based",
    "--randseed={seed}",
    "--output-format=json",
]


def declared(command: list[str], reader: str = "fio", **more: Any) -> dict[str, Any]:
    return {"mine": {"command": command, "reader": reader, **more}}


def load(command: list[str], reader: str = "fio", **levels: Any) -> workloads.Workload:
    return workloads.load_workload("mine", 1.0, levels, declared(command, reader))


@needs_fio
def test_a_run_of_fio_says_what_a_trial_needs(tmp_path: Path) -> None:
    """Phases, a series, histograms and sums agree with each other, or energy is over other work."""
    workload = load(RANDRW, block_size_b=4096, jobs=2)
    workload.check()
    workload.prepare(tmp_path, SEED)
    outcome = until_calm(
        lambda: workload.run(tmp_path, SEED, 1.0, 3.0), lambda found: len(found.ops) >= 3
    )
    warmup, measure = outcome.phases
    assert (warmup.name, measure.name) == ("warmup", "measure")
    assert warmup.end_s == measure.start_s
    assert warmup.duration_s >= 1.0
    assert measure.duration_s > 2.9
    ops, summary = units.check_columns(outcome.ops), outcome.summary
    assert len(ops) >= 3
    assert ops["time_s"].iloc[-1] == pytest.approx(measure.end_s)
    assert ops["duration_s"].sum() == pytest.approx(measure.duration_s)
    assert summary.work_ops > 0
    for total in ("work_ops", "read_b", "write_b"):
        assert ops[total].sum() == getattr(summary, total)
    assert summary.read_b + summary.write_b == 4096 * summary.work_ops
    assert outcome.latency["work_ops"].sum() == pytest.approx(summary.work_ops, rel=0.01)
    assert set(outcome.latency["operation"]) == {"read", "write"}
    assert log2_profile(outcome.latency)["work_ops"].sum() == outcome.latency["work_ops"].sum()
    [jobs] = summary.threads
    assert sum(jobs.work_ops) == summary.work_ops
    assert len(jobs.ended_s) == 2
    assert 0 < summary.cost.user_s + summary.cost.system_s < 2 * (measure.duration_s + 0.2)
    assert summary.finished is None
    assert not summary.errors
    assert summary.variables == {"block_size_b": 4096, "jobs": 2, "scale": 1.0}


@needs_fio
def test_a_limit_of_the_load_is_put_in_and_left_out_where_there_is_none(tmp_path: Path) -> None:
    outcome = load(RANDRW, block_size_b=4096, jobs=1).run(tmp_path, SEED, 0.5, 2.0, 50.0)
    assert outcome.summary.work_ops / 2.0 < 1.5 * 2 * 50.0, "50 reads and 50 writes a second"


@needs_fio
def test_work_with_an_end_of_its_own_is_finished(tmp_path: Path) -> None:
    command = ["fio", "--name=once", "--directory={directory}", "--size=4m", "--rw=write"]
    outcome = load([*command, "--bs=4k", "--rate_iops=800"]).run(tmp_path, SEED, 0.0, LIMIT_S)
    assert outcome.summary.finished is True
    assert outcome.summary.work_ops == 1024


@needs_fio
def test_errors_of_fio_are_errors_of_the_trial(tmp_path: Path) -> None:
    """A trial with them does not count (rule 20); without, it would be half the work."""
    read_only = ["fio", "--name=r", "--filename={directory}/none", "--rw=read", "--size=1m"]
    outcome = load([*read_only, "--readonly", "--allow_file_create=0"])
    with pytest.raises(WorkloadFailed, match="workload mine"):
        outcome.run(tmp_path, SEED, 0.0, 1.0)


@needs_fio
def test_a_full_file_system_is_told_as_such(tmp_path: Path) -> None:
    """It stays full in the next attempt: the campaign has to end, with what to change."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid():
        pytest.skip("mounting a small file system needs root: run it as root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder], check=True)
    try:
        command = ["fio", "--name=w", "--directory={directory}", "--rw=write", "--size=8m"]
        with pytest.raises(FsgreenError, match=r"full|No space left"):
            load([*command, "--bs=64k", "--fallocate=none"]).run(folder, SEED, 0.0, LIMIT_S)
    finally:
        subprocess.run(["umount", folder], check=True)


@needs_fio
def test_a_stopped_run_is_partial_and_a_killed_one_fails(tmp_path: Path) -> None:
    workload, stop = load(RANDRW, block_size_b=4096, jobs=1), threading.Event()

    def stop_once_it_works() -> None:
        wait_for(lambda: any(fio.io_counters().read_chars > 2**20 for fio in fios(tmp_path)))
        stop.set()

    threading.Thread(target=stop_once_it_works).start()
    outcome = workload.run(tmp_path, SEED, 0.0, 600.0, None, stop)
    assert outcome.summary.partial
    assert 0 < outcome.summary.duration_s < 600
    done: list[object] = []

    def kill() -> None:
        wait_for(lambda: bool(fios(tmp_path)))
        for process in fios(tmp_path):
            process.kill()
        done.append(None)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(WorkloadFailed):
        workload.run(tmp_path, SEED, 0.0, LIMIT_S)
    killer.join()
    assert done


def fios(directory: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "fio"
        and f"--directory={directory}" in (process.info["cmdline"] or [])
    ]


HARNESS = """
from itertools import pairwise
from pathlib import Path
from fsgreen import workloads
declared = {{"mine": {{"command": {command!r}, "reader": "fio"}}}}
workload = workloads.load_workload("mine", 1.0, {{"block_size_b": 4096, "jobs": 2}}, declared)
workload.run(Path({directory!r}), 1, 0.0, 600.0)
"""


@needs_fio
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_fio_is_left_when_the_harness_ends(number: signal.Signals, tmp_path: Path) -> None:
    """A killed campaign would leave work on a file system that nobody can unmount."""
    script = HARNESS.format(command=RANDRW, directory=str(tmp_path))
    harness = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    wait_for(lambda: len(fios(tmp_path)) >= 2)
    harness.send_signal(number)
    harness.wait()
    wait_for(lambda: not fios(tmp_path))


def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a shell script in the place of fio."""
    program = tmp_path / "bin" / "fio"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))


def test_a_fio_that_is_too_old_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, monkeypatch, "echo fio-3.7")
    with pytest.raises(FsgreenError, match=r"fio 3\.33 or later is needed, and this is fio-3\.7"):
        load(RANDRW, block_size_b=4096, jobs=1).check()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo '{\"fio version\": 3}'", "cannot be read: KeyError"),
        ("echo '{'", "cannot be read: JSONDecodeError"),
        ("echo bad option >&2; exit 1", "ended with status 1: bad option"),
        ("kill -KILL $$", "was ended by SIGKILL"),
    ],
)
def test_garbage_of_a_command_costs_its_trial_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    fake(tmp_path, monkeypatch, script)
    with pytest.raises(WorkloadFailed, match=said) as caught:
        load(RANDRW, block_size_b=4096, jobs=1).run(tmp_path, SEED, 0.0, 1.0)
    assert caught.value.next_step


def test_a_program_that_is_not_there_is_named_with_how_to_get_it() -> None:
    with pytest.raises(FsgreenError, match="no-such-program of the workload mine") as caught:
        load(["no-such-program"], "elapsed").check()
    assert "apt-get install" in str(caught.value.next_step)


def test_a_name_in_braces_that_nothing_has_is_refused() -> None:
    """It would reach the command as it stands, and be measured as something else."""
    with pytest.raises(FsgreenError, match="unknown value in braces 'block_siez_b', did you mean"):
        load(["true", "--bs={block_siez_b}"], "elapsed", block_size_b=4096).check()


def test_any_command_can_be_measured_for_its_time(tmp_path: Path) -> None:
    """Unpacking an archive is one operation, of the time that it takes."""
    workload = load(["sh", "-c", "test -d {directory} && sleep 0.2"], "elapsed")
    workload.check()
    outcome = workload.run(tmp_path, SEED, 0.0, LIMIT_S)
    assert outcome.summary.work_ops == 1
    assert outcome.summary.duration_s >= 0.2
    assert outcome.summary.finished is True
    assert outcome.latency["work_ops"].tolist() == [1]
    with pytest.raises(WorkloadFailed, match="status 3"):
        load(["sh", "-c", "exit 3"], "elapsed").run(tmp_path, SEED, 0.0, LIMIT_S)


def test_files_are_made_by_a_command_of_their_own(tmp_path: Path) -> None:
    entry = declared(["true"], "elapsed", prepare=["touch", "{directory}/file-{seed}"], size_mib=3)
    workload = workloads.load_workload("mine", 1.0, {}, entry)
    assert workload.size_b == 3 << 20
    workload.prepare(tmp_path, SEED)
    assert (tmp_path / "file-7").exists()


def test_another_command_is_another_text() -> None:
    """Its name stays, and trials of both would be pooled (rule 9)."""
    texts = [load(["true", option], "elapsed").text_sha256() for option in ("a", "b", "b")]
    assert texts[0] != texts[1] == texts[2]


def test_options_that_hide_the_results_are_refused() -> None:
    with pytest.raises(FsgreenError, match="--output=out is not for a workload to set"):
        fio.Fio().arguments(["fio", "--name=a", "--output=out"])


@pytest.mark.parametrize(
    ("middle", "bounds"),
    [(5, (5, 6)), (127, (127, 128)), (129, (128, 130)), (44800, (44544, 45056))],
)
def test_buckets_of_fio_are_put_where_they_were(middle: int, bounds: tuple[int, int]) -> None:
    """A quantile is a bucket's upper bound, which fio does not print."""
    assert fio.bucket_ns(middle) == bounds


def test_buckets_of_fio_follow_each_other_without_a_gap() -> None:
    """As stat.c has them: 64 of each power of two above 128 ns, the middle of each printed."""
    bounds = [fio.bucket_ns(value) for value in range(128)]
    for power in range(7, 40):
        width = 1 << (power - 6)
        for nth in range(64):
            lower = (1 << power) + nth * width
            bounds.append(fio.bucket_ns(lower + width // 2))
    assert all(upper == lower for (_, upper), (lower, _) in pairwise(bounds))
