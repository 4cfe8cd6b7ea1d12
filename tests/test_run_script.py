"""`./run`, the door to the project: what it does before, or instead of, a command of fsgreen."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fsgreen import paths

OWNER = 12345


@pytest.mark.skipif(not shutil.which("dash"), reason="needs dash: apt-get install dash")
def test_run_is_posix_shell() -> None:
    subprocess.run(["dash", "-n", paths.root() / "run"], check=True)


def stand_in(folder: Path, programs: dict[str, str]) -> None:
    """Make a checkout of `run` alone, whose environment has these programs, texts for a shell."""
    for name in ("run", "requirements.lock", "pyproject.toml"):
        shutil.copy2(paths.root() / name, folder)
    source = [(folder / name).read_text() for name in ("requirements.lock", "pyproject.toml")]
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "made-from").write_text(f"{folder}\n{''.join(source)}")
    for name, text in programs.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)


@pytest.fixture
def checkout() -> Iterator[Path]:
    """A checkout of somebody else, whose fsgreen and python say who runs them."""
    python = """
    case "$2" in *version_info*) echo 3.11 ;; venv) id -u; exit 3 ;; esac
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        stand_in(place, {".venv/bin/python": python, ".venv/bin/fsgreen": "id -u; exit 3"})
        for path in (place, *place.rglob("*")):
            os.chown(path, OWNER, OWNER)
        yield place


@pytest.mark.skipif(os.geteuid() != 0, reason="changes users: run as root (sudo ./run test)")
@pytest.mark.parametrize(
    ("arguments", "stale", "runs_it"),
    [("status", False, 0), ("reproduce", False, OWNER), ("status", True, OWNER)],
)
def test_under_sudo_only_what_needs_root_is_done_by_it(
    checkout: Path, arguments: str, stale: bool, runs_it: int
) -> None:
    """An environment of root, or results of root, would be in their owner's way."""
    if stale:
        (checkout / ".venv" / "made-from").unlink()
    asked = os.environ | {"SUDO_UID": f"{OWNER}", "SUDO_GID": f"{OWNER}"}
    asked["PYTHON"] = str(checkout / ".venv" / "bin" / "python")
    done = subprocess.run(
        [checkout / "run", arguments], env=asked, check=False, capture_output=True, text=True
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout == f"{runs_it}\n"
    assert all(path.lstat().st_uid == OWNER for path in checkout.rglob("*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="changes owners: run as root (sudo ./run test)")
def test_sudo_hands_back_nothing_that_was_there_before(checkout: Path) -> None:
    """A file of root in the checkout, closed to its owner, would become readable."""
    secret = checkout / "secret"
    secret.write_text("of root")
    secret.chmod(0o600)
    asked = os.environ | {"SUDO_UID": f"{OWNER}", "SUDO_GID": f"{OWNER}"}
    assert subprocess.run([checkout / "run", "status"], env=asked, check=False).returncode == 3
    assert secret.stat().st_uid == 0


def test_run_without_a_command_lists_the_commands() -> None:
    """It must answer before it makes an environment."""
    shown = subprocess.run([paths.root() / "run"], capture_output=True, text=True, check=True)
    for command in ("reproduce", "test", "lab", "measure STUDY", "engine", "doctor", "lock"):
        assert f"\n  {command} " in shown.stdout


@pytest.mark.parametrize("command", ["test", "lab", "environment", "engine", "lock"])
def test_every_command_of_run_has_help_with_an_example(command: str) -> None:
    """`./run test --help` would run all tests, and `./run lock --help` write a new lock."""
    asked = [paths.root() / "run", command, "--help"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert shown.startswith(f"usage: ./run {command}")
    assert f"\nexample: ./run {command}" in shown


def test_an_option_that_pytest_does_not_know_is_refused_before_anything_is_checked(
    tmp_path: Path,
) -> None:
    """The style checks ran first, and the engine was made."""
    pytest_here = f'exec {sys.executable} -m pytest "$@"'
    stand_in(tmp_path, {".venv/bin/python": "exit 1", ".venv/bin/pytest": pytest_here})
    asked = [tmp_path / "run", "test", "--exitfrist", "tests/meters"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert "pytest refuses this: unrecognized arguments: --exitfrist" in said.stderr
    assert "next: " in said.stderr and "test:" not in said.stderr


def test_help_lists_all_commands_also_where_there_is_no_environment_yet(tmp_path: Path) -> None:
    """Who looks for `lab` or `doctor` in a fresh clone waits for no packages."""
    bare = tmp_path / ".venv" / "bin" / "python"
    stand_in(tmp_path, {".venv/bin/python": f'exec {sys.executable} -S "$@"'})
    (tmp_path / "fsgreen").symlink_to(paths.code() / "fsgreen")
    asked = os.environ | {"COLUMNS": "100", "PYTHON": f"{bare}"}

    def shown(*command: str | Path) -> str:
        return subprocess.run(
            [*command, "--help"], capture_output=True, text=True, check=True, env=asked
        ).stdout

    commands = shown(sys.executable, "-m", "fsgreen")
    assert "\n    doctor " in commands
    for fresh in (False, True):
        if fresh:
            (tmp_path / ".venv" / "made-from").unlink()
        own, of_fsgreen = shown(tmp_path / "run").split("\n\nusage: fsgreen")
        assert f"usage: fsgreen{of_fsgreen}" == commands
        for command in ("test", "lab", "engine"):
            assert f"\n  {command} " in own
    assert not (tmp_path / ".venv.lock").exists()


def test_what_is_started_beside_the_tests_ignores_no_signal(tmp_path: Path) -> None:
    """Python ignores SIGPIPE and SIGXFSZ: tests of the engine wait for programs that these end."""
    programs = {
        ".venv/bin/python": f'exec {sys.executable} "$@"',
        ".venv/bin/pytest": "exit 0",
        ".venv/bin/ruff": "exit 0",
        ".venv/bin/cargo": "exit 1",
        ".venv/bin/mypy": "grep SigIgn /proc/self/status",
        "engine/digest.sh": "echo digest",
    }
    stand_in(tmp_path, programs)
    (tmp_path / ".venv" / "engine-from").write_text("digest shipped\n")
    done = subprocess.run(
        [tmp_path / "run", "test", "tests/meters"],
        env=os.environ | {"HOME": f"{tmp_path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (ignored,) = re.findall(r"^SigIgn:\s+([0-9a-f]+)$", done.stdout, flags=re.MULTILINE)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        assert not int(ignored, 16) >> (number - 1) & 1, number.name


@pytest.mark.parametrize("tested", ["digest", "that of before"])
def test_the_own_tests_of_a_shipped_engine_run_where_it_or_they_changed(
    tmp_path: Path, tested: str
) -> None:
    """A push took minutes for what had passed; and an engine that changed must not pass unseen."""
    programs = {
        ".venv/bin/python": f'exec {sys.executable} "$@"',
        **dict.fromkeys((".venv/bin/pytest", ".venv/bin/ruff", ".venv/bin/mypy"), "exit 0"),
        ".venv/bin/cargo": "echo cargo 1.85.0",
        ".venv/bin/cc": "exit 0",
        "engine/digest.sh": "echo digest",
        "engine/test.sh": "echo the engine runs its tests",
    }
    stand_in(tmp_path, programs)
    (tmp_path / ".venv" / "engine-from").write_text("digest shipped\n")
    record = {"tested_sha256": tested, "tested_on": os.uname().machine}
    (tmp_path / "data" / "engine").mkdir(parents=True)
    (tmp_path / "data" / "engine" / "built-from.json").write_text(json.dumps(record))
    environment = {k: v for k, v in os.environ.items() if k != "FSGREEN_NIGHTLY"}
    for nightly in ({}, {"FSGREEN_NIGHTLY": "1"}):
        done = subprocess.run(
            [tmp_path / "run", "test", "tests/meters"],
            env=environment | {"HOME": f"{tmp_path}"} | nightly,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        ran = "the engine runs its tests" in done.stdout
        assert ran == (tested != "digest" or bool(nightly)), done.stderr


@pytest.fixture
def engine_in_store(tmp_path: Path) -> Path:
    """A checkout whose store has an engine, and whose environment installs nothing."""
    program = Path(sys.executable).parent
    scripts = {
        ".venv/bin/python": f'exec {sys.executable} "$@"',
        ".venv/bin/dvc": f'exec {program / "dvc"} "$@"',
        ".venv/bin/uv": "exit 0",
        "engine/digest.sh": "echo 0123",
    }
    stand_in(tmp_path, scripts)
    wheels = tmp_path / "data" / "engine"
    wheels.mkdir(parents=True)
    (wheels / "built-from.json").write_text('{"source_sha256": "0123"}')
    for words in ("init --no-scm", "remote add -d store store", "add data/engine", "push"):
        command = [program / "dvc", *words.split()]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    shutil.rmtree(wheels)
    return tmp_path


def test_the_shipped_engine_is_waited_for_while_another_dvc_works(engine_in_store: Path) -> None:
    """A busy store is no missing one: building from source takes minutes, and a toolchain."""
    with (engine_in_store / ".dvc" / "tmp" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        running = subprocess.Popen(
            [engine_in_store / "run", "engine"], stderr=subprocess.PIPE, text=True
        )
        assert running.stderr is not None
        assert "waiting for another ./run reproduce, or dvc" in running.stderr.readline()
    _, said = running.communicate()
    assert running.returncode == 0, said
    assert "the engine is installed (shipped)" in said


def test_without_root_no_program_that_makes_file_systems_is_asked_for(tmp_path: Path) -> None:
    """A folder is all that can be measured then, and the first line would send one for sudo."""
    programs = {
        ".venv/bin/id": "echo 1000",
        ".venv/bin/python": "exit 1",
        ".venv/bin/fsgreen": "exit 3",
        "engine/digest.sh": "echo digest",
    }
    stand_in(tmp_path, programs)
    (tmp_path / ".venv" / "engine-from").write_text("digest shipped\n")
    script = tmp_path / "run"
    script.write_text(script.read_text().replace("mkfs.ext4 mkfs.xfs", "no-such-mkfs mkfs.xfs"))
    said = subprocess.run([script, "measure", "mine"], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (3, "")
