"""YCSB on RocksDB: what it does is what was asked for, and what is missing is told."""

import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from fsgreen import elsewhere, paths, workloads
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache
from fsgreen.workloads import Workload, WorkloadFailed
from fsgreen.workloads.ycsb import PROGRAM
from tests.patience import until_calm, wait_for

RECORDS = 2000
SEED = 11

needs_program = pytest.mark.skipif(
    paths.program(PROGRAM) is None, reason=f"{PROGRAM} not installed: ./run engine --from-source"
)


def ycsb(
    mix: str | None,
    records: int = RECORDS,
    scale: float = 0.1,
    direct_reads: bool = False,
    **levels: Any,
) -> Workload:
    """A workload of so many records at this scale."""
    options = {"records": round(records / scale), "record_b": 1024, "direct_reads": direct_reads}
    declared = {"db": {"driver": "fsgreen.workloads.ycsb:Ycsb", "options": options}}
    return workloads.load_workload("db", scale, {"mix": mix, **levels}, declared)


def running(place: Path) -> list[psutil.Process]:
    """The programs that run the workload in a folder."""
    found = []
    for program in psutil.process_iter():
        with suppress(psutil.Error):
            command = " ".join(program.cmdline())
            found += [program] if str(place) in command and " run " in command else []
    return found


@pytest.fixture
def rocksdb() -> None:
    """Skip a test that needs the library."""
    try:
        ycsb("a").check()
    except FsgreenError as error:
        pytest.skip(f"{error.what}; {error.next_step}")


@needs_program
@pytest.mark.usefixtures("rocksdb")
def test_each_mix_does_its_operations_on_the_records(tmp_path: Path) -> None:
    """Figures 7 to 9 of massie25 rest on them: no record is missing, all threads work."""
    first = ycsb("a")
    assert first.size_b == RECORDS * 1024
    assert first.prepare(tmp_path, SEED)["records"] == RECORDS
    for mix, operations in (
        ("a", {"read", "update"}),
        ("c", {"read"}),
        ("d", {"read", "insert"}),
        ("e", {"scan", "insert"}),
        ("f", {"read", "read-modify-write"}),
    ):
        # One of the threads may stand still for so short a time.
        outcome = until_calm(
            lambda mix=mix: ycsb(mix, threads=2).run(tmp_path, SEED, 0.1, 0.4),
            lambda done: min(done.summary.threads[0].work_ops) > 0,
        )
        summary = outcome.summary
        assert set(outcome.latency["operation"]) == operations
        assert outcome.latency["work_ops"].sum() == outcome.ops["work_ops"].sum() > 0
        assert (summary.work_ops, summary.skipped) == (outcome.ops["work_ops"].sum(), 0)
        assert len(summary.threads[0].work_ops) == 2 and min(summary.threads[0].work_ops) > 0
        assert summary.read_b >= 1024 * (summary.work_ops // 3)
        assert (summary.write_b == 0) == (mix == "c")
        assert ", RocksDB " in summary.engine
        assert [phase.name for phase in outcome.phases] == ["warmup", "measure"]


@needs_program
@pytest.mark.usefixtures("rocksdb")
def test_the_kernel_keeps_nothing_of_direct_reads(tmp_path: Path) -> None:
    """Reads from memory cost a device no energy; those of a large database do."""
    if mounts.in_memory(tmp_path):
        pytest.skip("TMPDIR lies in memory: name a folder on a disk")
    ycsb("c").prepare(tmp_path, SEED)

    def kept(direct_reads: bool) -> float:
        cache.drop(tmp_path)
        ycsb("c", direct_reads=direct_reads).run(tmp_path, SEED, 0.0, 1.0)
        return cache.resident_share(tmp_path)

    direct = kept(True)
    assert until_calm(lambda: kept(False), lambda share: share > 4 * direct) > 4 * direct


@needs_program
@pytest.mark.usefixtures("rocksdb")
def test_a_limited_load_is_kept_and_a_stopped_run_is_partial(tmp_path: Path) -> None:
    workload, stop = ycsb("c", threads=2), threading.Event()
    workload.prepare(tmp_path, SEED)
    limited = workload.run(tmp_path, SEED, 0.0, 1.0, load_ops_s=50)
    assert 1 <= limited.summary.work_ops <= 52

    def stop_once_it_works() -> None:
        wait_for(lambda: any(program.cpu_times().user > 0.3 for program in running(tmp_path)))
        stop.set()

    threading.Thread(target=stop_once_it_works).start()
    outcome = workload.run(tmp_path, SEED, 0.0, 600.0, stop=stop)
    assert outcome.summary.partial and outcome.summary.reason == "stopped by SIGTERM"
    assert outcome.summary.duration_s < 500


@needs_program
@pytest.mark.usefixtures("rocksdb")
def test_a_program_that_was_killed_spoils_its_trial_alone(tmp_path: Path) -> None:
    workload = ycsb("c")
    workload.prepare(tmp_path, SEED)

    def kill() -> None:
        wait_for(lambda: running(tmp_path))
        for program in running(tmp_path):
            program.kill()

    threading.Thread(target=kill).start()
    with pytest.raises(WorkloadFailed, match="ended by SIGKILL"):
        workload.run(tmp_path, SEED, 0.0, 600.0)


FULL = "(No space|SIGABRT: .*writable_file_writer)"
"""What it says of a full disk, the second in a check of its own."""


@needs_program
@pytest.mark.loop
@pytest.mark.usefixtures("rocksdb")
def test_a_disk_that_fills_while_files_are_merged_spoils_the_trial(tmp_path: Path) -> None:
    """RocksDB goes on in memory for a while, or aborts: what it did then is no result."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=14m", "none", tmp_path], check=True)
    try:
        workload = ycsb("a", records=4000, scale=0.01)
        with pytest.raises(WorkloadFailed, match=f"{FULL}(.|\n)*next:  choose a smaller scale"):
            workload.prepare(tmp_path, SEED)
            workload.run(tmp_path, SEED, 0.0, 600.0)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@needs_program
@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("/none/librocksdb.so", "cannot be used"),
        ("libc.so.6", "rocksdb_open, so it is another version or another library"),
        (__file__, "invalid ELF header|file too short"),
    ],
)
def test_a_library_that_is_missing_or_fails_to_load_is_told(
    library: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first trial, with what to install."""
    monkeypatch.setenv("FSGREEN_ROCKSDB", library)
    with pytest.raises(FsgreenError, match=f"(?s)({said}).*apt-get install") as raised:
        ycsb("a").check()
    assert not isinstance(raised.value, WorkloadFailed), "it fails in every trial"


class Played(elsewhere.Place):
    """A guest that finds programs by their names alone; this machine plays it."""

    def launcher(self, command: Sequence[str]) -> Sequence[str]:
        name, *arguments = command
        assert name == PROGRAM, "a path of this machine leads nowhere in a guest"
        return [str(paths.program(name)), *arguments]


@needs_program
@pytest.mark.usefixtures("rocksdb")
def test_in_a_guest_it_is_the_guests_program_and_its_report_is_read_as_here(tmp_path: Path) -> None:
    workload = ycsb("a", threads=2)
    with elsewhere.entered(Played()):
        workload.check()
        workload.prepare(tmp_path, SEED)
        outcome = workload.run(tmp_path, SEED, 0.1, 0.4)
    assert outcome.summary.work_ops == outcome.ops["work_ops"].sum() > 0
    assert ", RocksDB " in outcome.summary.engine


@needs_program
def test_rocksdb_that_a_guest_lacks_is_told_whatever_this_machine_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The image may be older than the workload: then no trial can run."""
    lacking = ["sh", "-c", "echo 'fsgreen-ycsb: RocksDB is not installed' >&2; exit 2"]
    monkeypatch.setattr(Played, "launcher", lambda self, command: lacking)
    with (
        elsewhere.entered(Played()),
        pytest.raises(FsgreenError, match="RocksDB is not installed") as raised,
    ):
        ycsb("a").check()
    assert not isinstance(raised.value, WorkloadFailed), "it fails in every trial"


def test_a_mix_that_there_is_not_is_told() -> None:
    for mix in (None, "g"):
        with pytest.raises(FsgreenError, match="declare a factor mix"):
            ycsb(mix).check()


def test_an_engine_without_the_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "program", lambda name: None)
    with pytest.raises(FsgreenError, match=r"not installed(.|\n)*--from-source"):
        ycsb("a").check()
