import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from fsgreen.calibration import exercise
from fsgreen.calibration.exercise import WORKER, Exercise, Step, Target, disk_target, steps
from fsgreen.errors import FsgreenError
from tests.patience import until_calm, wait_for

SEED = 1
ORPHAN = """
import os, subprocess, sys
load = [sys.executable, sys.argv[1], str(os.getpid()), "user", "0.1"]
print(subprocess.Popen(load, stdout=subprocess.DEVNULL).pid)
"""


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    """A scratch file of 8 MiB on the disk below the folder of temporary files."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(exercise, "SCRATCH_B", 8 << 20)
    try:
        with disk_target(tmp_path, SEED) as target:
            yield target
    except FsgreenError as error:
        pytest.skip(f"no disk to exercise here: {error.what}")


def test_pass_has_each_level_once_and_nothing_for_a_disk_that_is_not_there():
    names = [step.name for step in steps(8, None, SEED)]
    assert names == [
        "idle",
        "user-25",
        "user-50",
        "user-75",
        "user-100",
        "user-single",
        "user-all-half",
        "system-50",
        "system-100",
    ]


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 64])
def test_share_of_cores_is_met_and_no_load_runs_under_two_names(cores):
    found = steps(cores, None, SEED)
    assert len({step.loads for step in found}) == len(found)
    shares = {step.name: sum(float(load[1]) for load in step.loads) for step in found}
    assert shares["user-25"] == pytest.approx(cores / 4)
    assert shares["user-100"] == cores
    assert shares["system-50"] == pytest.approx(cores / 2)


def test_device_is_never_written_to(tmp_path):
    device = Target(tmp_path, "sda", 1 << 30, writable=False)
    kinds = {load[0] for step in steps(2, device, SEED) for load in step.loads}
    assert kinds == {"user", "system", "seek", "sequential"}
    node = tmp_path / "node"
    os.mkfifo(node)
    reader = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    worker = [
        sys.executable,
        str(WORKER),
        str(os.getpid()),
        "write",
        "1",
        str(node),
        "4096",
        "4096",
        "1",
    ]
    done = subprocess.run(worker, capture_output=True, text=True)
    os.close(reader)
    assert done.returncode != 0


def worked_s(worker):
    """How long a process has run in all, and how long it has run or waited for a core."""
    run_ns, waited_ns, _ = map(int, Path("/proc", str(worker.pid), "schedstat").read_text().split())
    return np.array([run_ns, run_ns + waited_ns]) * 1e-9


@pytest.mark.parametrize("kind", ["user", "system"])
def test_a_core_works_for_the_share_and_in_the_way_that_is_asked_of_it(kind):
    """A busy machine keeps it waiting for a core, which it still asks for."""

    def work():
        begin_s, before_s = time.monotonic(), worked_s(worker)
        wait_for(lambda: worked_s(worker)[0] - before_s[0] > 0.5)
        return (worked_s(worker) - before_s) / (time.monotonic() - begin_s)

    with Exercise(Step(kind, ((kind, "0.5"),))) as running:
        ((_, worker, _),) = running._workers
        wait_for(lambda: worked_s(worker)[0] > 0.1)  # it has started
        # A worker that stands still asks for no core.
        run_x, asked_x = until_calm(work, lambda shares_x: shares_x[1] > 0.4)
        used = psutil.Process(worker.pid).cpu_times()
    assert run_x < 0.6
    assert asked_x > 0.4
    assert getattr(used, kind) > 0.6 * (used.user + used.system)


def test_disk_is_read_past_the_page_cache(scratch):
    (seek,) = (step for step in steps(1, scratch, SEED) if step.name == "disk-seek")
    with Exercise(seek) as running:
        ((_, worker, _),) = running._workers
        wait_for(
            lambda: running.check() or psutil.Process(worker.pid).io_counters().read_bytes > 2**18
        )


def test_scratch_file_is_filled_and_goes_at_the_end(scratch, tmp_path):
    assert scratch.writable
    assert scratch.path.stat().st_size == scratch.size_b == 8 << 20
    assert scratch.path.stat().st_blocks * 512 >= 8 << 20
    assert "disk-write" in [step.name for step in steps(1, scratch, SEED)]


def test_nothing_of_a_scratch_file_is_left(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(exercise, "SCRATCH_B", 4 << 20)
    folder = tmp_path / "folder"
    folder.mkdir()
    try:
        with disk_target(folder, SEED):
            assert list(folder.iterdir())
    except FsgreenError as error:
        pytest.skip(f"no disk to exercise here: {error.what}")
    assert not list(folder.iterdir())


def test_load_that_stops_by_itself_is_told_with_its_reason(tmp_path):
    target = Target(tmp_path / "none", "sda", 1 << 20, writable=False)
    (step,) = (step for step in steps(1, target, SEED) if step.name == "disk-seek")
    with Exercise(step) as running, pytest.raises(FsgreenError, match="No such file"):
        while True:
            running.check()
            time.sleep(0.02)


def test_loads_end_with_the_step_and_with_their_starter():
    with Exercise(Step("user", (("user", "0.1"),) * 2)) as running:
        workers = [worker for _, worker, _ in running._workers]
    assert all(worker.poll() is not None for worker in workers)
    starter = [sys.executable, "-c", ORPHAN, str(WORKER)]
    made = subprocess.run(starter, capture_output=True, text=True, check=True)
    state = Path("/proc", made.stdout.strip(), "stat")

    def ended():
        return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"

    wait_for(ended, "the load outlives its starter")
