"""What a user types: every command explains itself, and every mistake names the next command."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fsgreen
from fsgreen import campaign, cli, paths, pipeline, trial
from fsgreen.errors import FsgreenError

COMMANDS = (
    "doctor",
    "plan",
    "measure",
    "status",
    "latency",
    "recommend",
    "notebook",
    "reproduce",
    "lend",
    "outcome",
    "meters",
    "import",
    "attach",
    "reparse",
    "wattsup-memory",
    "calibrate",
    "model-error",
    "host",
    "rules",
    "import-runs",
    "ledger",
    "claim",
    "compare",
    "artifact",
    "docs",
)


@pytest.mark.parametrize(("user", "mended"), [(1000, "sudo chown -R"), (0, "chattr -R -i")])
def test_a_file_that_may_not_be_written_is_told_with_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], user: int, mended: str
) -> None:
    """Whoever measured with sudo and analyses without it would get a traceback."""
    monkeypatch.setattr(os, "geteuid", lambda: user)

    def refuse(*_given: object, **_named: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "data/results/mine")

    monkeypatch.setattr(pipeline, "reproduce", refuse)
    assert cli.main(["reproduce"]) == 1
    told = capsys.readouterr().err
    assert "data/results/mine" in told and mended in told


@pytest.mark.parametrize("named", [(), ("data/raw/mine/power.raw",)])
def test_a_full_file_system_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    named: tuple[str, ...],
) -> None:
    """A write into an open file does not say which file it was; a traceback says nothing at all."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(paths, "free_b", lambda folder: 5 << 20 if folder == paths.data() else 1e12)

    def refuse(*_given: object, **_named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", *named)

    monkeypatch.setattr(pipeline, "reproduce", refuse)
    assert cli.main(["reproduce"]) == 1
    told = capsys.readouterr().err
    where = named[0] if named else f"{tmp_path / 'data'}, with 5 MiB free"
    assert f"where: {where}\n" in told
    assert "FSGREEN_DATA=FOLDER" in told


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main([command, "--help"])
    assert left.value.code == 0
    assert f"example: fsgreen {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "fast1"], "did you mean fast10"),
        (["plan", "fast10", "--profile", "quik"], "did you mean quick"),
        (["status", "nowhere"], "unknown campaign 'nowhere'"),
        (["status", "fast10-option"], "did you mean fast10-options"),
        (["rules", "--campaign", "fast11"], "did you mean fast10"),
        (["reparse", "fast11"], "did you mean fast10"),
        (["reproduce", "fast11"], "did you mean fast10"),
        (["outcome", "fast11"], "did you mean fast10"),
        (["reproduce", "--certificates", "certificates"], "no cores are lent"),
        (["plan", "fast10", "--assay", "--pilot", "fast11"], "did you mean fast10"),
        (["ledger", "fast11"], "did you mean fast10"),
        (["recommend", "--workload", "mail", "--campaign", "fast11"], "did you mean fast10"),
        (["status", "../nowhere"], "cannot be the name of a campaign"),
        (["measure", "fast10", "--testbed", "lop"], "did you mean loop"),
        (["measure", "fast10", "--testbed", "none.toml"], "the testbed file cannot be read"),
        (["measure", "fast10", "--queue-depth", "0"], "queue_depth is 0, not a whole number"),
    ],
)
def test_a_mistake_is_one_clear_message_and_status_1(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    assert cli.main(arguments) == 1
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pln"], "unknown command 'pln', did you mean plan?"),
        (["host", "aply"], "unknown command 'aply', did you mean apply?"),
        (["list", "studis"], "unknown word 'studis', did you mean studies?"),
        (
            ["plan", "fast10", "--profle=quick"],
            "unknown option '--profle', did you mean --profile?",
        ),
        (["plan", "fast10", "quick"], "nothing is done with the argument 'quick'"),
        (["import-runs", "x", "--name", "y", "--boundary", "wal"], "did you mean wall?"),
    ],
)
def test_a_misspelt_word_gets_the_nearest_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert message in told
    assert re.search(r"next:  fsgreen .*--help", told)


def test_a_misspelt_campaign_gets_the_nearest_in_python_too() -> None:
    with pytest.raises(FsgreenError, match="unknown campaign 'fast11', did you mean fast10"):
        fsgreen.open("fast11")


def test_a_missing_folder_for_the_directory_says_how_to_make_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    arguments = ["measure", "fast10", "--testbed", "directory", "--folder", str(missing)]
    assert cli.main(arguments) == 1
    assert f"mkdir -p {missing}" in capsys.readouterr().err


def test_the_plan_is_shown_with_its_baseline_and_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "fast10", "--profile", "quick"]) == 0
    shown = capsys.readouterr().out
    assert "8 cells x 2 blocks = 16 trials" in shown
    assert "webserver-ext4-default  (baseline)" in shown
    assert "min" in shown


def test_the_doctor_has_a_row_for_each_thing_and_a_remedy_for_each_fault(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["doctor"]) == 0
    rows = re.split(r"\n(?=\S)", capsys.readouterr().out)
    for subject in ("Python", "workload engine", "testbed loop", "file system xfs", "power meter"):
        assert any(subject in row for row in rows), subject
    assert all("->" in row for row in rows if row.startswith(("blocks", "warning")))


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m fsgreen plan fast10 --profile full | head -1"
    shown = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=True, env=os.environ
    )
    assert shown.stderr == ""


def test_what_counted_is_analysed_where_some_trials_never_did(
    monkeypatch, tmp_path: Path, capsys
) -> None:
    """Thirteen good trials of sixteen would end without a figure."""
    analysed = []

    def measure(*_: object, name: str, **__: object) -> None:
        raise campaign.NotAll("3 of 16 trials broke a rule each time", next_step="calm it")

    monkeypatch.setattr(campaign, "measure", measure)
    monkeypatch.setattr(trial, "list_trials", lambda folder: [folder])
    monkeypatch.setattr(pipeline, "after_measure", analysed.append)
    assert cli.main(["measure", "fast10", "--profile", "first", "--name", "some"]) == 1
    assert analysed == ["some"]
    assert "3 of 16 trials" in capsys.readouterr().err
