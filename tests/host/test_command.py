"""What a user types: a command keeps its settings for its own time, whatever ends it."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machines
import pytest

from fsgreen import host
from fsgreen.cli import host as commands
from fsgreen.errors import FsgreenError

POLICY = f"{machines.CPU}/cpufreq/policy0/scaling_governor"

RUN = """
import sys
from pathlib import Path
from fsgreen import host

with host.applied(["governor"], tree=host.Tree(Path(sys.argv[1]))):
    status = host.run(sys.argv[2:])
sys.exit(status)
"""

SLOW = "import sys, time; print('begun', flush=True); time.sleep(60)"


def test_the_status_of_the_command_is_passed_on() -> None:
    assert host.run(["sh", "-c", "exit 7"]) == 7


def test_a_command_that_a_signal_ended_has_the_status_that_shells_give_it() -> None:
    assert host.run(["sh", "-c", "kill -USR1 $$"]) == 128 + signal.SIGUSR1


def test_a_command_that_is_not_there_is_named_and_changes_nothing(tree: host.Tree) -> None:
    before = machines.state(tree)
    with (
        pytest.raises(FsgreenError, match="cannot be started"),
        host.applied(tree=tree),
    ):
        host.run(["fsgreen-no-such-program"])
    assert machines.state(tree) == before


@pytest.mark.parametrize(
    ("number", "to"),
    [
        (signal.SIGINT, os.killpg),
        (signal.SIGTERM, os.kill),
        (signal.SIGHUP, os.kill),
        (signal.SIGKILL, os.kill),
    ],
)
def test_a_signal_ends_the_command_and_restores(
    tree: host.Tree, number: signal.Signals, to: Callable[[int, int], None]
) -> None:
    """Ctrl-C goes to the terminal's whole group, the others may reach one process alone."""
    command = [sys.executable, "-c", RUN, str(tree.root), sys.executable, "-c", SLOW]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # under nohup, too
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert tree.text(POLICY) == "performance"
        to(process.pid, number)
        assert process.stdout.read() == b"", "the pipe closes when the command has ended"
    machines.wait_for_guardian(tree)
    assert tree.text(POLICY) == "powersave"


# --- the command line ---------------------------------------------------------------------------


@pytest.fixture
def fsgreen(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that runs `fsgreen host ...` on the machine of files."""
    for name in ("look", "apply", "applied", "restore", "pending"):
        here = getattr(host, name)
        monkeypatch.setattr(
            host, name, lambda *words, _here=here, **options: _here(*words, **options, tree=tree)
        )

    def run(*arguments: str) -> str:
        parser = argparse.ArgumentParser()
        commands.add(parser.add_subparsers())
        options = parser.parse_args(["host", *arguments])
        options.run(options)
        return capsys.readouterr().out

    return run


def test_show_tells_what_is_what_would_be_and_what_is_not_here(
    fsgreen: Callable[..., str], tree: host.Tree
) -> None:
    tree.path(f"{machines.CPU}/intel_pstate/no_turbo").unlink()
    machines.write(tree.root, f"{machines.CPU}/smt/control", "notsupported")
    rows = fsgreen("show").splitlines()
    for expected in (
        "governor    policy0                   powersave -> performance",
        "turbo       -                         not here: there is neither",
        "timers      cron.service              running -> stopped",
        "swap        /swapfile                 on, priority 7 -> off",
        "scheduler   sda                       mq-deadline; applied with scheduler=VALUE",
        "read-ahead  sda                       4096 -> 128",
        "apm         sda                       128 -> 254",
        "smt         smt                       off, as wanted",
    ):
        assert any(row.startswith(expected) for row in rows), expected


def test_apply_says_what_it_did_and_restore_what_became_of_it(
    fsgreen: Callable[..., str],
) -> None:
    shown = fsgreen("apply", "turbo", "read-ahead=64", "--disk", "sda")
    assert "on -> off" in shown
    assert "4096 -> 64" in shown
    assert "until: fsgreen host restore" in shown
    assert "changed" in fsgreen("show")
    shown = fsgreen("restore")
    assert "on, put back" in shown
    assert "4096, put back" in shown
    assert fsgreen("restore") == "nothing to put back\n"


def test_applying_what_is_there_already_says_so(fsgreen: Callable[..., str]) -> None:
    shown = fsgreen("apply", "governor=powersave")
    assert "powersave, as wanted" in shown
    assert "restore" not in shown


@pytest.mark.parametrize("separator", [["--"], []])
def test_run_gives_the_command_its_own_options(
    fsgreen: Callable[..., str], tree: host.Tree, separator: list[str]
) -> None:
    command = ["sh", "-c", f"cp {tree.path(POLICY)} {tree.root}/seen"]
    with pytest.raises(SystemExit) as left:
        fsgreen("run", "--apply", "governor", *separator, *command)
    assert left.value.code == 0
    assert tree.text("seen") == "performance"


def test_run_without_a_command_says_what_is_missing(fsgreen: Callable[..., str]) -> None:
    with pytest.raises(FsgreenError, match="no command to run"):
        fsgreen("run", "--apply", "governor")


@pytest.mark.parametrize("verb", ["show", "apply", "restore", "run"])
def test_each_verb_has_help_with_an_example(
    verb: str, fsgreen: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        fsgreen(verb, "--help")
    assert f"example: fsgreen host {verb}" in capsys.readouterr().out


def own_children() -> set[str]:
    return set(Path("/proc/self/task", str(os.getpid()), "children").read_text().split())


def test_the_guardian_needs_no_folder_of_the_holder(
    tree: host.Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guardian that stayed in a mounted folder would keep a testbed from being unmounted."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "json.py").write_text("raise ImportError('not the module of Python')")
    monkeypatch.chdir(place)
    others = own_children()
    with host.applied(["governor"], tree=tree):
        (guardian,) = own_children() - others
        assert os.readlink(f"/proc/{guardian}/cwd") == "/"
    assert tree.text(POLICY) == "powersave"
