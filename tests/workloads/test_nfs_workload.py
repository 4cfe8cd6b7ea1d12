"""Readers of an NFS server: the trial is what its cell says, and nothing of it is left behind."""

import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from fsgreen import design, paths, workloads
from fsgreen.errors import FsgreenError
from fsgreen.workloads import Workload, WorkloadFailed, process
from fsgreen.workloads.nfs import PROGRAM, Program, started
from fsgreen.workloads.wml import engine
from tests.patience import LIMIT_S, wait_for

SEED = 5
SCALE = 1 / 64
MIB = 2**20

needs_program = pytest.mark.skipif(
    paths.program(PROGRAM) is None, reason=f"{PROGRAM} not installed: ./run engine"
)


def readers(scale: float = SCALE, **levels: Any) -> Workload:
    """The workload of nfstricks03, of 4 MiB unless a scale is given."""
    plan = design.make_plan(design.load_study("nfstricks03"), "nfs")
    asked = {"heuristic": "default", "table": "freebsd4", "transport": "tcp", "readers": 1}
    return workloads.load_workload("nfs", scale, {**asked, **levels}, plan.workloads)


@needs_program
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_each_reader_reads_its_file_and_has_its_time(tmp_path: Path, transport: str) -> None:
    """Throughput is all bytes over the time of the last reader (nfstricks03, 4.3)."""
    workload = readers(transport=transport, readers=4)
    workload.check()
    assert workload.prepare(tmp_path, SEED)["files"] == 4
    assert {file.stat().st_size for file in tmp_path.iterdir()} == {MIB}
    outcome = workload.run(tmp_path, SEED, 0.0, LIMIT_S)
    summary = outcome.summary
    assert summary.finished and summary.read_b == workload.size_b == 4 * MIB
    [kind] = summary.threads
    ended_s = [at_s for at_s in kind.ended_s if at_s is not None]
    assert len(ended_s) == 4
    assert max(ended_s) == pytest.approx(summary.duration_s)
    assert outcome.phases[-1].duration_s == pytest.approx(summary.duration_s)
    assert outcome.ops["work_ops"].sum() == outcome.latency["work_ops"].sum() == summary.work_ops
    assert summary.cost.user_s + summary.cost.system_s > 0


@needs_program
def test_the_server_reads_ahead_as_the_cell_says(tmp_path: Path) -> None:
    """A cell whose heuristic or table did not reach the server would be measured as another."""
    counts = {}
    for heuristic in ("default", "cursors"):
        workload = readers(heuristic=heuristic, strides=4)
        workload.prepare(tmp_path, SEED)
        counts[heuristic] = workload.run(tmp_path, SEED, 0.0, LIMIT_S).summary.counts
    assert counts["default"]["nfs_reads_count"] == counts["cursors"]["nfs_reads_count"] == 512
    assert counts["default"]["nfs_ahead_b"] < 0.01 * 4 * MIB
    assert counts["cursors"]["nfs_ahead_b"] > 4 * MIB
    evicted = {}
    for table in ("small", "large"):
        workload = readers(scale=8 * SCALE, table=table, readers=32, transport="udp")
        workload.prepare(tmp_path, SEED)
        evicted[table] = workload.run(tmp_path, SEED, 0.0, LIMIT_S).summary.counts[
            "nfs_evicted_count"
        ]
    assert evicted["small"] > 100 and evicted["large"] == 0


@needs_program
def test_files_are_the_same_for_a_seed_and_without_a_block_of_zeros(tmp_path: Path) -> None:
    made = []
    for seed in (SEED, SEED, SEED + 1):
        readers().prepare(tmp_path, seed)
        made.append((tmp_path / "file0").read_bytes())
    assert made[0] == made[1] != made[2]
    assert all(made[0][at : at + 4096].strip(b"\0") for at in range(0, 4 * MIB, 4096))


@needs_program
def test_a_run_that_is_stopped_or_too_long_does_not_count(tmp_path: Path) -> None:
    """And a folder that is not there is told in the words of the server."""
    workload, stop = readers(), threading.Event()
    workload.prepare(tmp_path, SEED)
    stop.set()

    def fails(words: str, limit_s: float, stop: threading.Event | None = None) -> bool:
        """Whether a run fails so; one that had read all before anybody looked does not."""
        try:
            workload.run(tmp_path, SEED, 0.0, limit_s, stop=stop)
        except WorkloadFailed as error:
            assert words in error.what
            return True
        return False

    wait_for(lambda: fails("stopped", LIMIT_S, stop))
    wait_for(lambda: fails("not all was read within 0 s", 0.0))
    with pytest.raises(WorkloadFailed, match="No such file"):
        workload.run(tmp_path / "none", SEED, 0.0, LIMIT_S)


def test_a_server_that_does_not_answer_is_told_as_such() -> None:
    """`measure_s` has nothing to do with it."""
    with (
        tempfile.TemporaryFile() as errors,
        process.started(["sleep", "60"], subprocess.PIPE, errors) as silent,
        pytest.raises(WorkloadFailed, match="the NFS server did not answer within 0 s") as caught,
    ):
        Program(silent, errors).report(0.0)
    assert "dmesg" in (caught.value.next_step or "")


def test_what_a_program_complained_of_is_not_taken_for_the_remedy() -> None:
    for said, next_step in (("no luck", engine.AGAIN), (f"no luck{engine.NEXT}mend it", "mend it")):
        with tempfile.TemporaryFile() as errors:
            errors.write(f"{PROGRAM}: {said}\n".encode())
            with (
                process.started(["true"], subprocess.PIPE, errors) as ended,
                pytest.raises(WorkloadFailed, match=f"{PROGRAM} failed: no luck") as caught,
            ):
                Program(ended, errors).report(LIMIT_S)
        assert caught.value.next_step == next_step


@needs_program
def test_a_server_is_gone_when_its_block_is_left(tmp_path: Path) -> None:
    """One that stayed would hold the file system of the next trial."""
    with started(["serve", str(tmp_path), "--listen=127.0.0.1:0"]) as server:
        assert server.report(LIMIT_S)["address"].startswith("127.0.0.1:")
        pid = server.pid
    assert not Path(f"/proc/{pid}").exists()


@needs_program
def test_what_cannot_be_is_refused_before_anything_is_made() -> None:
    for levels, match in (({"table": "none"}, "none"), ({"readers": 32}, "0.125 MiB")):
        with pytest.raises(FsgreenError, match=match):
            readers(**levels).check()


@needs_program
def test_readers_that_end_by_themselves_take_no_warm_up(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="no warm-up"):
        readers().run(tmp_path, SEED, 1.0, LIMIT_S)
