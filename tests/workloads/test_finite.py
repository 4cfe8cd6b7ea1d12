"""Workloads that are a fixed amount of work."""

from pathlib import Path

import pandas as pd
import pytest

from fsgreen import workloads
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache
from fsgreen.workloads import Outcome
from tests.patience import LIMIT_S

pytestmark = pytest.mark.usefixtures("engine", "caches_dropped")

SEED = 7
MIB = 2**20


def done(name: str, scale: float, directory: Path, **variables: int) -> Outcome:
    """Prepare and run a workload to its end."""
    workload = workloads.load_workload(name, scale, variables)
    workload.check()
    workload.prepare(directory, SEED)
    outcome = workload.run(directory, SEED, 0.0, LIMIT_S)
    assert outcome.summary.errors == {}
    assert outcome.summary.partial is False
    assert outcome.summary.duration_s < LIMIT_S
    return outcome


def operations(outcome: Outcome, flowop: str) -> int:
    latency: pd.DataFrame = outcome.latency
    return int(latency.loc[latency["flowop"] == flowop, "work_ops"].sum())


@pytest.mark.parametrize(("name", "fsyncs"), [("create-append-fsync", 500), ("create-append", 0)])
def test_appends_end_when_every_file_exists(name: str, fsyncs: int, tmp_path: Path) -> None:
    """Section 5.4 of fast10 tells what fsync costs by leaving it out, and nothing else."""
    outcome = done(name, 0.01, tmp_path)
    assert operations(outcome, "create") == operations(outcome, "append-old") == 500
    assert operations(outcome, "fsync-new") == operations(outcome, "fsync-old") == fsyncs
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 500


def test_each_sequential_reader_reads_its_own_file_once(tmp_path: Path) -> None:
    """Throughput is the bytes over the time of the last reader: nfstricks03, section 4.3."""
    outcome = done("sequential-readers", 1 / 64, tmp_path)
    assert operations(outcome, "read") == 8
    assert outcome.summary.read_b == 4 * MIB
    assert outcome.summary.write_b == 0
    # As root the caches were dropped before: what is in them now was read.
    assert cache.resident_share(tmp_path) > 0.95


def test_work_that_its_limit_cuts_is_not_taken_for_done(tmp_path: Path) -> None:
    """Readers that were stopped half-way would look as fast as the limit is short."""
    workload = workloads.load_workload("sequential-readers", 1 / 64)
    workload.prepare(tmp_path, SEED)
    cut = workload.run(tmp_path, SEED, 0.0, 0.3, load_ops_s=4)
    assert cut.summary.finished is False
    assert workload.run(tmp_path, SEED, 0.0, LIMIT_S).summary.finished is True
    warmed = workload.run(tmp_path, SEED, 0.1, 0.3, load_ops_s=4)
    assert warmed.summary.finished is None


def test_each_reader_is_timed_by_itself_and_the_last_times_the_run(tmp_path: Path) -> None:
    """nfstricks03, section 5.3: the total hides how long the first and the last one took."""
    outcome = done("sequential-readers", 1 / 64, tmp_path, readers=3)
    [readers] = outcome.summary.threads
    assert readers.work_ops == (2, 2, 2)
    assert len(readers.ended_s) == 3
    assert max(readers.ended_s) == pytest.approx(outcome.summary.duration_s, abs=1e-6)
    assert outcome.summary.read_b == 3 * (4 * MIB // 3)


@pytest.mark.parametrize("readers", [1, 2])
def test_a_stride_reader_reads_its_file_once(tmp_path: Path, readers: int) -> None:
    """nfstricks03, section 7: the streams together read what one would; so does each reader."""
    outcome = done("stride-reader", 1 / 64, tmp_path, readers=readers)
    assert operations(outcome, "read") == readers * 4 * MIB / 8192
    assert outcome.summary.read_b == readers * 4 * MIB


@pytest.mark.parametrize(("stride", "in_flight"), [(1, 1), (1, 32), (8, 32)])
def test_a_reader_with_reads_in_flight_reads_no_block_twice(
    tmp_path: Path, stride: int, in_flight: int
) -> None:
    """Blocks that were read before come from memory: they would make it look fast."""
    try:
        outcome = done("ring-reader", 1 / 64, tmp_path, stride=stride, in_flight=in_flight)
    except FsgreenError as error:
        if "refuses an io_uring" not in error.what:
            raise
        pytest.skip(f"{error.what}: {error.next_step}")
    blocks = 4 * MIB // 8192
    assert blocks - in_flight < operations(outcome, "read") <= blocks
    assert outcome.summary.read_b == operations(outcome, "read") * 8192


def test_a_compilation_writes_every_object_and_links_them_all(tmp_path: Path) -> None:
    outcome = done("compile", 0.01, tmp_path)
    assert operations(outcome, "close-object") == operations(outcome, "object.read") == 2
    assert operations(outcome, "header.read") == 2 * 40
    assert operations(outcome, "close-program") == 1
    (program,) = (path for path in (tmp_path / "program").rglob("*") if path.is_file())
    assert program.stat().st_size == 2 * 24 * 1024


def test_a_start_reads_each_file_once_and_writes_nothing(tmp_path: Path) -> None:
    outcome = done("startup", 0.01, tmp_path)
    assert operations(outcome, "file.read") == 4
    assert operations(outcome, "page-in") == 500
    assert operations(outcome, "list") == 40
    assert outcome.summary.write_b == 0
