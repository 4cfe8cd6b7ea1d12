"""A job in virtual time whose guest fails: a program of this machine stands for QEMU."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fsgreen.devices.vm import alone, boot, image
from fsgreen.errors import FsgreenError

JOB = {"trials": [{"trial": "b1-one"}, {"trial": "b1-two"}]}

Play = Callable[[str], None]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Have a script in Python in the place of QEMU."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "initrd").write_bytes(b"")
    made = image.Image(tmp_path / "vmlinux", tmp_path / "initrd", {"initrd_sha256": "12ab"})
    monkeypatch.setattr(alone, "DISK", tmp_path)
    monkeypatch.setattr(boot, "require", lambda: sys.executable)
    monkeypatch.setattr(boot, "version", lambda: "7.2")
    monkeypatch.setattr(image, "ensure", lambda: made)

    def script(text: str) -> None:
        monkeypatch.setattr(boot, "command", lambda *_: [sys.executable, "-c", text])

    return script


def test_what_the_guest_wrote_is_returned_and_nothing_is_left(tmp_path: Path, play: Play) -> None:
    play("open('output', 'w').write('{\"trial\": \"b1-one\"}\\n{\"end\": 1}\\n')")
    written = alone.run(JOB, 1 << 20)
    assert alone.results(written) == [{"trial": "b1-one"}]
    assert alone.guest_of(written) == {"initrd_sha256": "12ab", "qemu": "7.2"}
    assert not list(tmp_path.glob("fsgreen-vm-*"))


def test_qemu_that_does_not_begin_says_why(tmp_path: Path, play: Play) -> None:
    """It had no memory for the guest, say: there is no output then."""
    play("import sys; sys.exit('cannot set up guest memory')")
    with pytest.raises(FsgreenError, match="ended before its end: cannot set up guest memory"):
        alone.run(JOB, 1 << 20)
    assert not list(tmp_path.glob("fsgreen-vm-*"))


def test_a_guest_that_goes_on_for_too_long_is_ended(tmp_path: Path, play: Play) -> None:
    play(
        "import os, time\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(1000)"
    )
    with pytest.raises(FsgreenError, match="it was not done within 3 s"):
        alone.run(JOB, 1 << 20, limit_s=3.0)
    assert not Path("/proc", (tmp_path / "pid").read_text()).exists()
    assert not list(tmp_path.glob("fsgreen-vm-*"))
