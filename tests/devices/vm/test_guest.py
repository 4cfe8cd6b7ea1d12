"""What is asked of a guest, which a program of this machine plays."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fsgreen import elsewhere, paths
from fsgreen.devices.vm import boot, device, image
from fsgreen.devices.vm.boot import Machine
from fsgreen.devices.vm.guest import Guest, last_words
from fsgreen.devices.vm.wire import CONTROL
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.workloads import ycsb

IMAGE = image.Image(Path("vmlinux"), Path("initrd"), {"initrd_sha256": "one"})

PLAYED = f"""
import socket
listening = socket.socket(socket.AF_UNIX)
listening.bind({CONTROL!r})
listening.listen()
connection, _ = listening.accept()
connection.sendall(b'{{"ready": {{"kernel": "6.1"}}}}\\n')
for line in connection.makefile():
    if "leave" in line:
        break
    if "lacking" in line:
        connection.sendall(
            b'{{"error": {{"what": "no cleaner", "where": null, '
            b'"next_step": "apt-get install nilfs-tools"}}}}\\n'
        )
        continue
    connection.sendall(b'{{"answer": ' + str(len(line)).encode() + b'}}\\n')
"""


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guest]:
    monkeypatch.setattr(boot, "command", lambda *_: [sys.executable, "-c", PLAYED])
    with (tmp_path / "lock").open("w") as lock:
        started = Guest(Machine("tcg"), IMAGE, tmp_path, lock_fd=lock.fileno())
        yield started
        started.stop()


def test_ctrl_c_while_the_guest_is_asked_ends_it(
    guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it answers later would be taken for the answer to what is asked next."""

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(guest._channel, "receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        guest.ask("prepare")
    assert not guest.alive()


def test_a_guest_that_ended_names_the_setting_that_a_testbed_file_has(guest: Guest) -> None:
    from fsgreen.campaign.testbedfile import TestbedTable

    with pytest.raises(TrialFailed, match="the guest ended") as told:
        guest.ask("leave")
    (named,) = [key for key in TestbedTable.model_fields if f" {key} " in str(told.value.next_step)]
    assert named == "guest_memory_mib"
    assert not guest.alive()


def test_the_last_words_of_a_guest_that_stopped_itself_say_why(tmp_path: Path) -> None:
    (tmp_path / boot.CONSOLE).write_text("KeyError: 'mkfs'\n[    9.051] sysrq: Resetting\n")
    assert last_words(tmp_path) == "KeyError: 'mkfs'"


def test_what_the_guest_lacks_is_not_to_be_installed_on_this_machine(
    guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    with pytest.raises(FsgreenError, match="no cleaner") as told:
        guest.ask("lacking")
    assert str(told.value.next_step).startswith("rm -r /somewhere/fsgreen/vm, then the same")


@pytest.mark.parametrize("mended", ["apt-get install lib", "install it anew (apt-get install lib)"])
def test_what_a_program_of_the_guest_lacks_is_of_its_image(
    guest: Guest, monkeypatch: pytest.MonkeyPatch, mended: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    with pytest.raises(FsgreenError, match="RocksDB") as told, guest.entered():
        raise FsgreenError("RocksDB is not installed", next_step=mended)
    assert str(told.value.next_step).startswith("rm -r /somewhere/fsgreen/vm, then the same")


@pytest.mark.skipif(
    paths.program(ycsb.PROGRAM) is None, reason=f"needs {ycsb.PROGRAM}: ./run engine --from-source"
)
@pytest.mark.parametrize("library", ["/none/librocksdb.so", "libc.so.6"])
def test_rocksdb_that_fails_in_the_guest_comes_with_its_image(
    guest: Guest, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    """What its program says to install would be installed on this machine, and change nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setenv("FSGREEN_ROCKSDB", library)
    monkeypatch.setattr(
        elsewhere, "launched", lambda command: [str(paths.program(command[0])), *command[1:]]
    )
    database = ycsb.Ycsb("db", 1.0, {"mix": "a"}, 100)
    with (
        pytest.raises(FsgreenError, match=r"RocksDB library .* cannot be used") as told,
        guest.entered(),
    ):
        database.check()
    assert told.value.where == "the guest"
    assert str(told.value.next_step).startswith("rm -r /somewhere/fsgreen/vm, then the same")


def test_a_new_guest_has_the_image_that_records_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checkouts share the cache: the second would change what runs in a campaign of the first.

    Records would go on to name the image of its begin.
    """
    vm = device.VmDevice.__new__(device.VmDevice)
    vm._image = IMAGE
    other = image.Image(IMAGE.kernel, IMAGE.initrd, {"initrd_sha256": "two"})
    monkeypatch.setattr(image, "ensure", lambda: other)
    with pytest.raises(FsgreenError, match="changed since the campaign was opened"):
        vm._boot("tcg")
