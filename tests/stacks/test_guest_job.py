"""A job in virtual time, carried out by a stand-in for the agent, over a real serial line."""

import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.stacks.guest import job

REPORT = ["sh", "-c", """echo '{"runs": []}'"""]
PROGRAMS: dict[str, Any] = {"seed": 1, "prepare": REPORT, "run": REPORT}


@pytest.mark.parametrize(
    ("fails", "error", "said"),
    [
        ("prepare", FsgreenError("Filesystem must be larger than 300MB"), "larger than 300MB"),
        ("remount", OSError(28, "No space left on device"), "No space left"),
    ],
)
def test_a_trial_that_fails_does_not_end_the_others(
    fails: str, error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XFS needs 300 MB: who compares it with five others still wants the five."""
    of: list[str] = []

    def ask(do: str, **what: dict[str, str]) -> object:
        if do == "load":
            of.append(what["levels"]["file_system"])
        if do == fails and of[-1] == "xfs":
            raise error
        return {"directory": str(tmp_path)}

    failed, ran, end = done(ask, monkeypatch, "xfs", "ext4")
    assert failed["trial"] == "xfs" and said in failed["error"]
    assert ran["report"] == {"runs": []}
    assert end == {"end": 2}


def test_a_report_that_ends_in_the_middle_fails_its_trial_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PROGRAMS, "run", ["sh", "-c", "echo '{'"])
    failed, end = done(lambda do, **_: {"directory": "/"}, monkeypatch, "ext4")
    assert "sh wrote no report" in failed["error"]
    assert end == {"end": 1}


def done(ask: job.Ask, monkeypatch: pytest.MonkeyPatch, *file_systems: str) -> list[dict[str, Any]]:
    """What a job of a trial on each file system writes, after what it says of the disk."""
    trials = [{"trial": name, "levels": {"file_system": name}, **PROGRAMS} for name in file_systems]
    reader, line = pty.openpty()
    monkeypatch.setattr(job, "LINE", Path(os.ttyname(line)))
    monkeypatch.setattr(job.termios, "tcdrain", lambda _: None)  # nobody reads before the end
    job.run(ask, {"texts": {}, "disk": {}, "trials": trials})
    written = b""
    while b'{"end"' not in written:
        written += os.read(reader, 1 << 16)
    for descriptor in (reader, line):
        os.close(descriptor)
    return [json.loads(words) for words in written.splitlines()][1:]
