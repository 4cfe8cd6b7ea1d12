"""GreenFS from Python: what the notebook on it stands on."""

import os
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
from mounts_of_greenfs import needs_a_mount

from fsgreen import greenfs
from fsgreen.errors import FsgreenError


def test_a_server_crashes_and_yesterdays_file_comes_back(tmp_path: Path) -> None:
    """The notebook would show a way that nobody can go."""
    needs_a_mount()
    server = greenfs.Mount(tmp_path / "server", tmp_path / "net")
    work, remote = tmp_path / "work", tmp_path / "net" / "me"
    with greenfs.Mount(tmp_path / "flash", work, remote=remote, disk=tmp_path / "disk") as volume:
        (work / "file").write_text("first")
        volume.wait_for("connected; holds all")
        before = datetime.now().isoformat()
        (work / "file").write_text("second")
        volume.wait_for("connected; holds all")
        server.kill()
        (work / "file").unlink()
        volume.wait_for("away")
        server = greenfs.Mount(tmp_path / "server", tmp_path / "net")
        volume.wait_for("connected; holds all")
        assert not (remote / "file").exists()
        then = work / ".greenfs" / "history" / before / "file"
        assert then.read_text() == "first"
        greenfs.ask("restore", "--at", before, work / "file")
    assert (tmp_path / "disk" / "file").read_text() == "first"
    server.unmount()


def test_a_refusal_is_told_in_the_words_of_the_program(tmp_path: Path) -> None:
    """A person would see a number of an exit, or nothing."""
    needs_a_mount()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "file").touch()
    with pytest.raises(FsgreenError, match="not empty") as refused:
        greenfs.Mount(tmp_path / "flash", tmp_path / "work")
    assert refused.value.where == str(tmp_path / "work")
    assert refused.value.next_step and "empty folder" in refused.value.next_step
    with pytest.raises(FsgreenError, match="no volume with a remote that you have mounted"):
        greenfs.ask("history", tmp_path / "work" / "file")


def test_what_flash_has_no_room_for_is_read_from_the_server(tmp_path: Path) -> None:
    """A volume would be as large as flash, or a study could not say what it read where."""
    needs_a_mount()
    folders = (tmp_path / "flash", tmp_path / "work")
    with greenfs.Mount(*folders, remote=tmp_path / "remote", flash_mib=0) as volume:
        (tmp_path / "work" / "file").write_bytes(bytes(range(256)) * 4096)
        volume.wait_for("1 of 1 files in part")
        assert volume.stats()["flash_b"] == 0
        assert (tmp_path / "work" / "file").read_bytes() == bytes(range(256)) * 4096
        assert volume.stats()["from_remote_b"] == 256 * 4096


def test_a_mount_does_not_begin_after_its_process_was_killed(tmp_path: Path) -> None:
    """It would serve for ever, and its work folder be busy."""
    begun = tmp_path / "begun"
    guarded = [*greenfs.WITH_PARENT, str(os.getppid()), "touch", str(begun)]
    assert subprocess.run(guarded, check=False).returncode != 0
    assert not begun.exists()
    guarded[len(greenfs.WITH_PARENT)] = str(os.getpid())
    subprocess.run(guarded, check=True)
    assert begun.exists()
