"""A flash folder of GreenFS that its file system encrypts: a real ext4, whose bytes are read."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from loops import attached
from mounts_of_greenfs import needs_a_mount

from fsgreen import greenfs
from fsgreen.errors import FsgreenError
from tests.patience import wait_for

pytestmark = pytest.mark.loop

NAME = "diagnosis-of-a-patient"
TEXT = "whoever finds this laptop reads it. " * 500
BESIDE = "this was never to be encrypted. " * 500
LARGE_B = 4 << 20
NOBODY = "65534"


@dataclass
class Laptop:
    """A device with an ext4, and a key elsewhere."""

    home: Path
    device: Path

    @property
    def below(self) -> Path:
        return self.home / "below"

    @property
    def flash(self) -> Path:
        return self.below / "flash"

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def key(self) -> Path:
        return self.home / "key"

    def format(self, *options: str) -> None:
        subprocess.run(["mkfs.ext4", "-q", "-F", *options, self.device], check=True)

    def attach(self) -> None:
        subprocess.run(["mount", self.device, self.below], check=True)

    def detach(self) -> None:
        if os.path.ismount(self.below):
            subprocess.run(["umount", self.below], check=True)

    def mount(self, flash: str = "flash", work: str = "work") -> greenfs.Mount:
        return greenfs.Mount(self.below / flash, self.home / work, flash_key=self.key)

    def ask(self, command: str, *arguments: str | Path) -> str:
        return greenfs.ask(command, "--flash", self.flash, "--flash-key", self.key, *arguments)

    def is_closed(self, flash: str = "flash") -> bool:
        """Whether nobody can read a name there, nor make a file, without the key."""
        folder = self.below / flash
        if {NAME, ".greenfs"} & {entry.name for entry in folder.iterdir()}:
            return False
        with pytest.raises(OSError) as refused:
            (folder / "new").write_text("new")
        assert refused.value.errno == errno.ENOKEY
        return True


@pytest.fixture
def laptop() -> Iterator[Laptop]:
    needs_a_mount()
    if not Path("/sys/fs/ext4/features/encryption").exists():
        pytest.skip("needs an ext4 that encrypts: a kernel with CONFIG_FS_ENCRYPTION")
    with ExitStack() as undone:
        home = Path(undone.enter_context(tempfile.TemporaryDirectory(prefix="laptop-")))
        home.chmod(0o755)
        (home / "below").mkdir()
        image = home / "image"
        image.touch()
        os.truncate(image, 64 << 20)
        laptop = Laptop(home, undone.enter_context(attached(image)))
        greenfs.ask("flash", "key", laptop.key)
        undone.callback(laptop.detach)
        laptop.format("-O", "encrypt")
        laptop.attach()
        yield laptop


def server_of(flash: Path) -> int:
    """The process that serves the volume of a flash folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"mount" in words and os.fsencode(flash) in words:
                return int(process.name)
    raise AssertionError("it is not mounted")


def test_a_device_that_was_stolen_tells_nothing(laptop: Laptop) -> None:
    """Its finder would read names and data, or its owner could not read them any more."""
    (laptop.below / "beside").write_text(BESIDE)
    with laptop.mount() as volume:
        (laptop.work / NAME).write_text(TEXT)
        assert "encrypted by its file system" in volume.status()
    assert laptop.is_closed()
    laptop.detach()
    raw = laptop.device.read_bytes()
    assert b"beside" in raw
    assert BESIDE[:32].encode() in raw
    assert NAME.encode() not in raw
    assert TEXT[:36].encode() not in raw

    laptop.attach()
    with pytest.raises(FsgreenError, match="has not its key") as refused:
        greenfs.Mount(laptop.flash, laptop.work)
    assert "--flash-key" in str(refused.value.next_step)
    with laptop.mount():
        assert (laptop.work / NAME).read_text() == TEXT
    assert laptop.is_closed()


def test_files_that_are_there_are_not_taken_for_encrypted(laptop: Laptop) -> None:
    """Somebody would believe them safe, and the way that is named would not be one."""
    remote = laptop.home / "remote"
    with greenfs.Mount(laptop.flash, laptop.work, remote=remote):
        (laptop.work / NAME).write_text(TEXT)
    with pytest.raises(FsgreenError, match="has files that are not encrypted") as refused:
        laptop.mount()
    way, _, _ = str(refused.value.next_step).partition(";")
    subprocess.run(way, shell=True, check=True)
    with laptop.mount():
        plain = laptop.below / "flash-plain"
        (plain / ".greenfs").rename(laptop.below / "aside")
        subprocess.run(["cp", "-a", f"{plain}/.", laptop.work], check=True)
    assert laptop.is_closed()
    (remote / ".greenfs").rename(laptop.home / "versions")
    assert "holds all; 0 B copied" in laptop.ask("sync", "--remote", remote)


def test_only_its_own_key_opens_a_folder(laptop: Laptop) -> None:
    """Files would be unreadable in part, or a key be everybody's."""
    laptop.mount().unmount()
    others = laptop.home / "others"
    greenfs.ask("flash", "key", others)
    with pytest.raises(FsgreenError, match="encrypted by another key"):
        greenfs.Mount(laptop.flash, laptop.work, flash_key=others)
    greenfs.ask("pool", "key", laptop.home / "of-a-pool")
    with pytest.raises(FsgreenError, match="this is no key"):
        greenfs.Mount(laptop.flash, laptop.work, flash_key=laptop.home / "of-a-pool")
    laptop.key.chmod(0o640)
    with pytest.raises(FsgreenError, match="others can read this key"):
        laptop.mount()
    assert laptop.is_closed()


def test_a_file_system_that_does_not_encrypt_is_named(laptop: Laptop) -> None:
    """Files would lie there in plain text, or nobody would know how to begin."""
    laptop.detach()
    laptop.format()
    laptop.attach()
    with pytest.raises(FsgreenError, match="not set to encrypt") as refused:
        laptop.mount()
    way = str(refused.value.next_step).removeprefix("as root: ")
    assert way == f"tune2fs -O encrypt {laptop.device}"
    subprocess.run(way, shell=True, check=True, capture_output=True)
    laptop.mount().unmount()
    assert laptop.is_closed()

    in_memory = tempfile.TemporaryDirectory(dir="/dev/shm")
    with in_memory as memory, pytest.raises(FsgreenError, match="cannot encrypt a folder"):
        greenfs.Mount(Path(memory) / "flash", laptop.work, flash_key=laptop.key)
    with pytest.raises(FsgreenError, match="no folder above this one is in its file system"):
        greenfs.Mount(laptop.below, laptop.work, flash_key=laptop.key)


def test_the_key_that_a_killed_mount_left_is_taken_out(laptop: Laptop) -> None:
    """It would stay there until the next start of the machine, or the files be lost."""
    volume = laptop.mount()
    (laptop.work / NAME).write_text(TEXT)
    volume.kill()
    assert (laptop.flash / NAME).read_text() == TEXT, "as docs/greenfs.md says"
    assert f"greenfs flash lock {laptop.flash}" in greenfs.ask("umount", laptop.work)
    greenfs.ask("flash", "lock", laptop.flash)
    assert laptop.is_closed()
    greenfs.ask("flash", "lock", laptop.flash)

    laptop.mount().kill()
    with laptop.mount():
        assert (laptop.work / NAME).read_text() == TEXT
    assert laptop.is_closed()


def test_a_signal_ends_a_mount_as_umount_does(laptop: Laptop) -> None:
    """systemd would stop it, and the key stay."""
    volume = laptop.mount()
    os.kill(server_of(laptop.flash), signal.SIGTERM)
    wait_for(laptop.is_closed)
    volume.kill()


def test_volumes_with_one_key_do_not_lock_each_other(laptop: Laptop) -> None:
    """Who unmounts one would take the files of the other from under its programs."""
    one, other = laptop.mount(), laptop.mount("other", "elsewhere")
    (laptop.home / "elsewhere" / NAME).write_text(TEXT)
    one.unmount()
    assert (laptop.home / "elsewhere" / NAME).read_text() == TEXT
    (laptop.home / "elsewhere" / "next").write_text("next")
    with pytest.raises(FsgreenError, match="the volume of this folder is mounted"):
        greenfs.ask("flash", "lock", laptop.below / "other")
    other.unmount()
    assert laptop.is_closed()
    assert laptop.is_closed("other")


def test_without_a_mount_the_key_is_there_as_long_as_a_command_runs(laptop: Laptop) -> None:
    """`sync` could not read flash, or whoever looks once would leave it open."""
    remote = laptop.home / "remote"
    for folder in (laptop.flash, laptop.work, remote):
        folder.mkdir()
    assert "not encrypted yet" in laptop.ask("mount", "--dry-run", laptop.work)
    assert not list(laptop.flash.iterdir())
    laptop.ask("sync", "--remote", remote)
    with laptop.mount():
        (laptop.work / NAME).write_text(TEXT)
    for command, said in [
        ("status", "lacks changes of"),
        ("sync", "holds all"),
        ("fsck", "holds all"),
        ("status", "holds all"),
    ]:
        assert said in laptop.ask(command, "--remote", remote)
        assert laptop.is_closed()
    assert (remote / NAME).read_text() == TEXT


def test_a_plain_user_encrypts_a_folder_of_his_own(laptop: Laptop) -> None:
    """It would need root."""
    laptop.flash.mkdir()
    remote = laptop.home / "remote"
    remote.mkdir()
    for place in (laptop.flash, laptop.key, remote):
        os.chown(place, int(NOBODY), int(NOBODY))
    program = str(shutil.copy(greenfs.program(), laptop.home))
    become = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", program]
    named = ["--flash", str(laptop.flash), "--flash-key", str(laptop.key), "--remote", str(remote)]
    subprocess.run([*become, "sync", *named], check=True)
    assert laptop.is_closed()
    done = subprocess.run([*become, "status", *named], check=True, capture_output=True, text=True)
    assert "encrypted by its file system" in done.stdout
    assert "holds all" in done.stdout


def test_the_kernel_reads_without_the_program_if_it_did_so_in_plain_text(laptop: Laptop) -> None:
    """Encryption would cost the speed of passthrough."""
    if not Path("/proc/self/io").exists():
        pytest.skip("needs a kernel that counts reads (CONFIG_TASK_IO_ACCOUNTING)")

    def is_read_by_the_program(flash: Path, key: Path | None) -> bool:
        with greenfs.Mount(flash, laptop.work, flash_key=key):
            (laptop.work / NAME).write_bytes(bytes(LARGE_B))
        with greenfs.Mount(flash, laptop.work, flash_key=key):
            counts = Path(f"/proc/{server_of(flash)}/io")
            before_b = int(counts.read_text().split()[1])
            (laptop.work / NAME).read_bytes()
            return int(counts.read_text().split()[1]) - before_b >= LARGE_B

    plain = is_read_by_the_program(laptop.below / "plain", None)
    assert is_read_by_the_program(laptop.flash, laptop.key) == plain


def test_who_still_has_files_open_is_told_of(laptop: Laptop) -> None:
    """The owner would believe closed what a program goes on to read."""
    volume = laptop.mount()
    (laptop.work / NAME).write_text(TEXT)
    with (laptop.flash / NAME).open():
        with pytest.raises(FsgreenError, match="some of its files are still open") as refused:
            volume.unmount()
        assert f"greenfs flash lock {laptop.flash}" in str(refused.value.next_step)
    greenfs.ask("flash", "lock", laptop.flash)
    assert laptop.is_closed()
    volume.kill()


def test_the_key_opens_the_folder_without_greenfs(laptop: Laptop) -> None:
    """Files would be lost with the program."""
    with laptop.mount():
        (laptop.work / NAME).write_text(TEXT)
    key = bytes.fromhex(laptop.key.read_text())
    by_identifier, add_key = 2, 0xC0506617
    request = struct.pack("=I36xI36x", by_identifier, len(key)) + key  # linux/fscrypt.h
    folder = os.open(laptop.below, os.O_RDONLY)
    fcntl.ioctl(folder, add_key, request)
    os.close(folder)
    assert (laptop.flash / NAME).read_text() == TEXT
    greenfs.ask("flash", "lock", laptop.flash)
    assert laptop.is_closed()
