"""What others made and fsgreen ships or locks: unchanged, and looked up without false comfort."""

import hashlib
import json
import runpy
import subprocess

import pytest

from fsgreen import paths

STATIC = paths.root() / "fsgreen" / "view" / "static"
AUDIT = runpy.run_path(str(paths.root() / ".ci" / "audit"))


def test_the_bundled_library_is_the_one_that_its_authors_published() -> None:
    """It runs in the browser of everybody who opens the live view."""
    lines = (STATIC / "uPlot.sha256").read_text().splitlines()
    recorded = {name: sha256 for sha256, name in (line.split() for line in lines)}
    bundled = {file.name for file in STATIC.glob("uPlot*")} - {"uPlot.sha256"}
    assert set(recorded) == bundled
    for name, sha256 in recorded.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == sha256, name


def answers(monkeypatch: pytest.MonkeyPatch, packages: object, crates: object) -> int:
    """What the audit ends with where the two programs say this; None is a program that fails."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        report = packages if command[0] == "uv" else crates
        if report is None:
            return subprocess.CompletedProcess(command, 1, "", "error: no network\n")
        return subprocess.CompletedProcess(command, 1, json.dumps(report), "")

    monkeypatch.setattr(subprocess, "run", run)
    status: int = AUDIT["main"]()
    return status


def crates(*known: str) -> dict[str, object]:
    listed = [
        {"package": {"name": name, "version": "1"}, "advisory": {"id": "RUSTSEC-1"}}
        for name in known
    ]
    return {"vulnerabilities": {"list": listed}, "lockfile": {"dependency-count": 7}}


SOUND = {"name": "a", "version": "1", "vulns": []}
WEAK = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1"}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


def test_a_known_weakness_ends_the_nightly_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answers(monkeypatch, {"dependencies": [SOUND, WEAK]}, crates("d")) == 1
    told = capsys.readouterr().out
    assert "b 2: CVE-1" in told and "d 1: RUSTSEC-1" in told


def test_what_could_not_be_looked_up_is_not_called_sound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mirror without the database answers each package with nothing known."""
    assert answers(monkeypatch, {"dependencies": [SOUND, UNKNOWN]}, None) == 0
    told = capsys.readouterr().out
    assert "0 known weaknesses in 1 packages" in told
    assert "1 packages were NOT audited" in told
    assert "the crates were NOT audited: cargo audit --json --file: error: no network" in told
