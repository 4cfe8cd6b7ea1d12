"""Settings come back after any end of the process that changed them: SIGKILL at any line."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import machines
import pytest

from fsgreen import host
from fsgreen.host import journal

KILLS = int(8 * max(2.0, float(os.environ.get("FSGREEN_FUZZ_S", "2"))))
WORDS = ["governor", "turbo", "swap", "timers", "read-ahead", "apm"]

HARNESS = """
import os, signal, sys, time
from pathlib import Path
from fsgreen import host

# Who runs the tests by nohup passes on to them that it is ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

what, root, at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
words, disks = sys.argv[4].split(","), sys.argv[5:]
lines = 0

def trace(frame, event, argument):
    global lines
    if "/fsgreen/host/" not in frame.f_code.co_filename:
        return None
    if event == "line":
        lines += 1
        if lines == at:
            os.kill(os.getpid(), signal.SIGKILL)
    return trace

sys.settrace(trace)
if what == "restore":
    host.restore(host.Tree(root))
else:
    with host.applied(words, disks=disks, tree=host.Tree(root)):
        if what == "kill both":
            (guardian,) = Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
            os.kill(int(guardian), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "wait":
            print("applied", flush=True)
            # Not signal.pause(): a signal that comes just before it would be waited for in vain.
            while True:
                time.sleep(0.1)
sys.settrace(None)
print(lines)
"""


def start(
    what: str, tree: host.Tree, at: int = 0, words: Sequence[str] = WORDS, disk: str = "sda"
) -> subprocess.Popen[str]:
    """Start a holder that kills itself at the line `at` of the package that it executes."""
    command = [sys.executable, "-c", HARNESS, what, str(tree.root), str(at), ",".join(words)]
    command += [disk] if disk else []
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = process.communicate()
    return process.returncode, said


def test_a_holder_killed_at_any_line_leaves_everything_as_it_was(tree: host.Tree) -> None:
    before = machines.state(tree)
    status, said = ended(start("apply", tree))
    assert status == 0
    assert machines.state(tree) == before
    moments = random.Random(20100223).sample(range(1, int(said) + 1), KILLS)
    left = 0
    for moment in moments:
        assert ended(start("apply", tree, moment))[0] == -signal.SIGKILL
        machines.wait_for_guardian(tree)
        assert machines.state(tree) == before, f"killed at line {moment}"
        left += len(host.pending(tree))
        host.restore(tree)
        assert machines.state(tree) == before
        assert journal.journals(tree) == []
    assert left < KILLS / 4, "only a kill between journal and guardian leaves a journal"


def test_a_restore_killed_at_any_line_can_be_done_again(tree: host.Tree) -> None:
    before = machines.state(tree)
    host.apply(WORDS, disks=["sda"], tree=tree)
    _, said = ended(start("restore", tree))
    for moment in random.Random(20100223).sample(range(1, int(said) + 1), KILLS // 2):
        host.apply(WORDS, disks=["sda"], tree=tree)
        assert ended(start("restore", tree, moment))[0] == -signal.SIGKILL
        host.restore(tree)
        assert machines.state(tree) == before, f"killed at line {moment}"
        assert journal.journals(tree) == []


def test_what_a_killed_holder_was_still_changing_is_waited_for(tree: host.Tree) -> None:
    """Otherwise swap would be found on, and go off after everything was put back."""
    before = machines.state(tree)
    slow = "kill -9 $PPID; sleep 0.3\n" + machines.PROGRAMS["swapoff"]
    machines.program(tree.root, "swapoff", slow)
    assert ended(start("apply", tree, words=["swap"], disk=""))[0] == -signal.SIGKILL
    machines.wait_for_guardian(tree)
    assert machines.state(tree) == before


def test_holder_and_guardian_both_killed_leave_a_journal_that_is_told(tree: host.Tree) -> None:
    before = machines.state(tree)
    assert ended(start("kill both", tree))[0] == -signal.SIGKILL
    machines.wait_for_guardian(tree)
    assert machines.state(tree) != before
    (waiting,) = host.pending(tree)
    assert "by a run that ended without putting them back" in waiting.sentence
    host.restore(tree)
    assert machines.state(tree) == before


def test_a_guardian_that_somebody_killed_is_stood_in_for(tree: host.Tree) -> None:
    before = machines.state(tree)
    with host.applied(WORDS, disks=["sda"], tree=tree):
        children = Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
        (guardian,) = [
            int(child)
            for child in children
            if b"fsgreen.host.guardian" in Path("/proc", child, "cmdline").read_bytes()
        ]
        os.kill(guardian, signal.SIGKILL)
    assert machines.state(tree) == before
    assert journal.journals(tree) == []


def test_a_guardian_that_starts_after_its_holder_was_killed_does_its_work(tree: host.Tree) -> None:
    with journal.alone(tree):
        entry = journal.Entry("turbo", "intel_pstate/no_turbo", "", "off", "on")
        written, hold_fd = journal.begin(tree, [entry], for_run=True)
    os.close(hold_fd)
    guardian = subprocess.Popen(
        [sys.executable, "-m", "fsgreen.host.guardian", str(tree.root), str(written.file)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert guardian.stdout is not None
    guardian.stdout.close()
    assert guardian.wait() == 0
    assert tree.text(f"{machines.CPU}/intel_pstate/no_turbo") == "1"
    assert journal.journals(tree) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_to_the_whole_group_spares_the_guardian(
    tree: host.Tree, number: signal.Signals
) -> None:
    before = machines.state(tree)
    command = [sys.executable, "-c", HARNESS, "wait", str(tree.root), "0", "governor,swap"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "applied\n"
        assert machines.state(tree) != before
        os.killpg(holder.pid, number)
        holder.wait()
    machines.wait_for_guardian(tree)
    assert machines.state(tree) == before
    assert journal.journals(tree) == []


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[str]:
    """Yield a real loop device, whose scheduler and read-ahead are the kernel's own."""
    image = tmp_path / "disk.img"
    image.touch()
    os.truncate(image, 16 << 20)
    command = ["losetup", "--find", "--show", str(image)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    yield Path(shown).name
    subprocess.run(["losetup", "--detach", shown], check=True)


@pytest.mark.loop
@pytest.mark.skipif(os.geteuid() != 0, reason="sets up a loop device: run as root")
def test_a_real_disk_gets_its_scheduler_and_read_ahead_back_after_kill_9(loop_device: str) -> None:
    queue = Path("/sys/block", loop_device, "queue")
    files = (queue / "scheduler", queue / "read_ahead_kb")
    before = [file.read_text() for file in files]
    offered = before[0].replace("[", "").replace("]", "").split()
    other = next(name for name in offered if f"[{name}]" not in before[0])
    words = [f"scheduler={other}", "read-ahead=512"]
    rows = {row.setting: row for row in host.look(disks=[loop_device]) if row.target == loop_device}
    assert f"[{rows['scheduler'].now}]" in before[0]
    for wait_s in (0.0, 0.02, 0.1):
        holder = start("wait", host.HERE, words=words, disk=loop_device)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "applied\n"
        assert [file.read_text() for file in files] != before
        assert f"[{other}]" in files[0].read_text()
        assert files[1].read_text() == "512\n"
        time.sleep(wait_s)
        holder.kill()
        ended(holder)
        machines.wait_for_guardian(host.HERE)
        assert [file.read_text() for file in files] == before
    assert host.pending() == []
