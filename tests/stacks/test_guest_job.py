"""A job in virtual time, carried out by a stand-in for the agent, over a real serial line."""

import json
import os
import pty
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.stacks.guest import job

REPORT = ["sh", "-c", """echo '{"runs": []}'"""]


def test_a_file_system_that_cannot_be_made_does_not_end_the_other_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XFS needs 300 MB: who compares it with five others still wants the five."""

    def ask(do: str, **what: dict[str, str]) -> object:
        if do == "prepare" and what["levels"]["file_system"] == "xfs":
            raise FsgreenError("Filesystem must be larger than 300MB", next_step="fsgreen doctor")
        return {"directory": str(tmp_path)}

    programs = {"seed": 1, "prepare": REPORT, "run": REPORT}
    trials = [
        {"trial": name, "levels": {"file_system": name}, **programs} for name in ("xfs", "ext4")
    ]
    reader, line = pty.openpty()
    monkeypatch.setattr(job, "LINE", Path(os.ttyname(line)))
    monkeypatch.setattr(job.termios, "tcdrain", lambda _: None)  # nobody reads before the end
    job.run(ask, {"texts": {}, "disk": {}, "trials": trials})
    written = b""
    while b"end" not in written:
        written += os.read(reader, 1 << 16)
    _, failed, ran, end = map(json.loads, written.splitlines())
    assert failed == {"trial": "xfs", "error": "Filesystem must be larger than 300MB"}
    assert ran["report"] == {"runs": []}
    assert end == {"end": 2}
