import os
from contextlib import suppress
from pathlib import Path

import pytest
from emulated_program import Program

from fsgreen.errors import FsgreenError
from fsgreen.meters.common import asking
from tests.patience import LIMIT_S, wait_for


@pytest.fixture
def tool(tmp_path, monkeypatch):
    program = Program(tmp_path, "tool")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return program


def ask(*command, timeout_s=LIMIT_S):
    return asking.answer(["tool", *command], timeout_s=timeout_s, next_step="mend it")


def test_answer_is_what_the_program_printed_byte_for_byte(tool):
    tool.says("read /dev/x", b"\x00\xff\n")
    assert ask("read", "/dev/x") == b"\x00\xff\n"
    assert tool.asked() == ["read /dev/x"]


def running(command):
    """Whether a process with this command line is there; the killed need a moment to end."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes() == command:
                return True
    return False


@pytest.mark.parametrize(
    ("complaint", "passed_on"),
    [
        (
            "/dev/nvme0: No such file\n\x1b[1mUsage: nvme\nand its help\n",
            "/dev/nvme0: No such file",
        ),
        (
            "PEN registry open failed\n\nCould not open device\n",
            "PEN registry open failed; Could not open device",
        ),
        ("\n".join("abcdef"), "a; b; c"),
        ("", ""),
    ],
)
def test_complaint_of_a_program_is_passed_on_without_its_help(tool, complaint, passed_on):
    tool.fails("read", complaint)
    with pytest.raises(FsgreenError) as caught:
        ask("read")
    assert caught.value.what == f"tool ended with status 1: {passed_on}"
    assert (caught.value.where, caught.value.next_step) == ("tool read", "mend it")


def test_program_that_hangs_is_killed_with_what_it_started(tool):
    tool.hangs("read", 612.5)
    with pytest.raises(FsgreenError, match=r"tool gave no answer within 0.2 s"):
        ask("read", timeout_s=0.2)
    wait_for(lambda: not running(b"sleep\x00612.5\x00"), "what the program started still runs")


def test_program_that_is_not_installed_is_named_with_its_package():
    with pytest.raises(FsgreenError, match="no-such-tool is not installed"):
        asking.answer(["no-such-tool"], timeout_s=1, next_step="apt install it")
    assert asking.missing("no-such-tool", "pack") == (
        "no-such-tool is not installed: apt install pack"
    )
    assert asking.missing("sh", "dash") is None


def test_program_that_cannot_be_run_is_an_error(tool, tmp_path):
    (tmp_path / "tool").write_text("#!/no/such/shell\n")
    with pytest.raises(FsgreenError, match="tool cannot be run"):
        ask("read")
