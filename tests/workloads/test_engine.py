"""The program never outlives what started it."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from fsgreen.errors import FsgreenError
from fsgreen.workloads import process
from fsgreen.workloads.wml import engine
from tests.patience import wait_for

LONG_RUN = """
from pathlib import Path
from fsgreen import workloads
workload = workloads.load_workload("varmail", 0.01)
workload.prepare(Path({directory!r}), 1)
workload.run(Path({directory!r}), 1, 0.1, 600)
"""


def engines(directory: Path) -> list[psutil.Process]:
    """The processes of the program that work in a directory."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if f"--set=dir={directory}" in (process.info["cmdline"] or [])
    ]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_engine_is_left_when_the_harness_ends(number: signal.Signals, tmp_path: Path) -> None:
    """A killed campaign would leave a workload on a file system that nobody can unmount."""
    script = LONG_RUN.format(directory=str(tmp_path))
    harness = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    wait_for(lambda: len(engines(tmp_path)) >= 2)
    harness.send_signal(number)
    harness.wait()
    wait_for(lambda: not engines(tmp_path))


def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a shell script in the place of the program."""
    program = tmp_path / "fsgreen-wml"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(engine.paths, "program", lambda name: str(program))


def test_a_deaf_program_is_killed_after_the_grace_period(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = tmp_path / "deaf"
    fake(tmp_path, monkeypatch, f'trap "" TERM; touch {deaf}; while :; do sleep 0.1; done')
    monkeypatch.setattr(process, "GRACE_S", 0.5)
    stop = threading.Event()

    def stop_once_deaf() -> None:
        wait_for(deaf.exists)
        stop.set()

    threading.Thread(target=stop_once_deaf).start()
    with pytest.raises(FsgreenError, match="ended by SIGKILL"):
        engine.call(["run"], stop)


def test_a_failure_keeps_its_words_and_its_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, monkeypatch, 'printf "fsgreen-wml: no luck\\n  next:  try again\\n" >&2; exit 1')
    with pytest.raises(FsgreenError) as caught:
        engine.call(["run"])
    assert (caught.value.what, caught.value.next_step) == ("no luck", "try again")


def test_progress_is_passed_on_and_the_rest_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    said = "echo noise >&2; echo fileset mail: 5 of 10 files, 3 s left >&2; sleep 0.4; echo {}"
    fake(tmp_path, monkeypatch, said)
    assert engine.call(["prepare"]) == {}
    assert capfd.readouterr().err == "fileset mail: 5 of 10 files, 3 s left\n"
