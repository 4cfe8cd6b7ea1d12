"""The doctor names all that a guest still lacks, before its image is made for the first time."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import machines
import pytest

from fsgreen import debian, host, paths, preflight
from fsgreen.devices.vm import image
from fsgreen.devices.vm.device import VmDevice
from fsgreen.preflight import able, guest, load

PROGRAMS = (*image.ENGINES, "apt-get", "dpkg-deb")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> host.Tree:
    """A machine of Ubuntu that could make the image, and has not."""
    machines.program(tmp_path, "qemu-system-x86_64", "echo QEMU emulator version 8.2.2")
    for name in PROGRAMS:
        machines.program(tmp_path, name, "")
    machines.write(tmp_path, "keys.gpg", "")
    machines.write(tmp_path, "proc/meminfo", "MemAvailable: 6000000 kB")
    found = {file.name: str(file) for file in (tmp_path / "bin").iterdir()}
    monkeypatch.setattr(paths, "program", lambda name: found.get(Path(name).name))
    monkeypatch.setattr(paths, "free_b", lambda folder: 8 << 30)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(debian, "KEYRING", tmp_path / "keys.gpg")
    monkeypatch.setattr(debian, "_codename", lambda: "noble")
    monkeypatch.delenv(debian.MIRROR, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return host.Tree(tmp_path)


def rows(tree: host.Tree) -> list[preflight.Finding]:
    """The rows of the guest, after which nothing has been made."""
    found = list(guest.check(tree))
    assert not tree.path("cache").exists()
    return found


def make_base() -> None:
    (image.folder() / "base").mkdir(parents=True)
    record = {"recipe_sha256": image._recipe()}
    (image.folder() / "base" / "base.json").write_text(json.dumps(record))


def test_an_image_that_could_be_made_says_from_which_mirror(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, memory = rows(tree)
    assert (made.severity, memory.severity) == ("ok", "ok")
    assert made.state.endswith("of packages from http://deb.debian.org/debian")
    assert made.remedy == f"to name another mirror: {debian.MIRROR}=http://.../debian"
    monkeypatch.setenv(debian.MIRROR, "http://mirror.example/debian")
    assert rows(tree)[0].state.endswith("http://mirror.example/debian")
    monkeypatch.delenv(debian.MIRROR)
    monkeypatch.setattr(debian, "_codename", lambda: debian.SUITE)
    assert rows(tree)[0].state.endswith("the sources of this machine's apt")


@pytest.mark.parametrize(
    ("lacking", "state", "remedy"),
    [
        ("qemu-system-x86_64", "QEMU", "apt-get install qemu-system-x86"),
        ("fsgreen-ycsb", "the workload engine is not installed, or has no", "./run engine"),
        ("apt-get", "the guest is made of Debian packages", "build it on Debian or Ubuntu"),
        ("dpkg-deb", "the guest is made of Debian packages", "build it on Debian or Ubuntu"),
        ("keys", "Debian's keys are missing", "apt-get install debian-archive-keyring"),
        ("room", "the image of the guest needs 1200 MiB to be made", "free some, or move the"),
        ("x86_64", "the guest is an x86_64 machine, this one is aarch64", "take --testbed loop"),
    ],
)
def test_what_is_missing_is_noted_with_what_mends_it(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch, lacking: str, state: str, remedy: str
) -> None:
    """A note, as other testbeds need none of it, and what a campaign warns of breaks rule 10."""
    if lacking == "keys":
        monkeypatch.setattr(debian, "KEYRING", tree.path("nowhere"))
    elif lacking == "room":
        monkeypatch.setattr(paths, "free_b", lambda folder: image.BUILD_B - 1)
    elif lacking == "x86_64":
        monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    else:
        before = paths.program
        monkeypatch.setattr(
            paths, "program", lambda name: None if name == lacking else before(name)
        )
    [found] = rows(tree)
    assert (found.subject, found.severity) == ("testbed vm", "note")
    assert found.state.startswith(f"not here: {state}") and found.remedy.startswith(remedy)
    assert VmDevice.available() == ("vm", False, found.remedy)


def test_a_cache_that_may_not_be_looked_at_is_noted(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another user with the home folder of root."""

    def refuse(folder: Path) -> int:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(paths, "free_b", refuse)
    [found] = rows(tree)
    assert "could not be made: Permission denied" in found.state
    assert "move the cache" in found.remedy


def test_all_that_is_missing_is_named_at_once(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever mends one thing at a time meets the next one after a minute."""
    monkeypatch.setattr(debian, "KEYRING", tree.path("nowhere"))
    monkeypatch.setattr(paths, "free_b", lambda folder: 0)
    assert ["MiB" in row.state for row in rows(tree)] == [True, False]


def test_an_image_that_is_made_needs_neither_apt_nor_room(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without apt, the folder is a copy."""
    before = paths.program
    monkeypatch.setattr(
        paths, "program", lambda name: None if name in ("apt-get", "dpkg-deb") else before(name)
    )
    monkeypatch.setattr(paths, "free_b", lambda folder: 0)
    make_base()
    made, _ = guest.check(tree)
    assert (made.severity, made.remedy) == ("ok", "")
    assert made.state == "a guest can start: QEMU is here, and its image is made"
    assert VmDevice.available().usable


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"recipe_sha256": "of another version"}'])
def test_a_base_of_another_version_or_none_must_be_made(tree: host.Tree, text: str) -> None:
    make_base()
    (image.folder() / "base" / "base.json").write_text(text)
    made, _ = guest.check(tree)
    assert made.state.startswith("the first use makes the image")


@pytest.mark.parametrize(
    ("meminfo", "state", "severity"),
    [
        ("MemAvailable: 1048576 kB", "1024 MiB available, it takes 1024 MiB", "ok"),
        ("MemAvailable: 1048575 kB", "1023 MiB available, it takes 1024 MiB", "note"),
        ("", "not readable", "note"),
    ],
)
def test_memory_for_a_guest_is_looked_for(
    tree: host.Tree, meminfo: str, state: str, severity: str
) -> None:
    machines.write(tree.root, "proc/meminfo", meminfo)
    _, memory = guest.check(tree)
    assert (memory.state, memory.severity) == (state, severity)
    assert ("guest_memory_mib" in memory.remedy) == state.startswith("1023")


def test_the_table_has_the_testbed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told of the other testbeds would name the first thing that is missing again."""
    monkeypatch.setattr(load, "SAMPLE_S", 0.01)
    assert guest.SUBJECT not in {row.subject for row in able.check(None)}
    assert guest.SUBJECT in {row.subject for row in preflight.check()}
