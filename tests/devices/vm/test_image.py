"""How the image of the guest is made, and what is said where it cannot be."""

import io
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from vms import need_guest, nightly

from fsgreen import debian, paths
from fsgreen.devices.vm import image, packages
from fsgreen.devices.vm.cpio import Archive
from fsgreen.errors import FsgreenError

LIMIT_B = 100 << 20
"""What a user's disk and memory are asked for."""


def entries(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Mode and content of each entry of an archive in the format newc, read by its description."""
    found, place = {}, 0
    while True:
        numbers = [int(archive[place + 6 + 8 * n : place + 14 + 8 * n], 16) for n in range(13)]
        assert archive[place : place + 6] == b"070701"
        name = archive[place + 110 : place + 110 + numbers[11] - 1].decode()
        content = (place + 110 + numbers[11] + 3) // 4 * 4
        place = (content + numbers[6] + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert place == len(archive)
            return found
        found[name] = (numbers[1], archive[content : content + numbers[6]])


def test_an_archive_holds_what_was_put_into_it(tmp_path: Path) -> None:
    """The kernel unpacks by lengths and padding: one byte too many and nothing boots."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "script").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "sub" / "script").chmod(0o755)
    (tmp_path / "empty").touch()
    into = io.BytesIO()
    archive = Archive(into)
    archive.console()
    archive.tree(tmp_path, "code")
    archive.file("odd", b"12345")
    archive.end()
    found = entries(into.getvalue())
    assert list(found) == [
        "dev/console",
        "code",
        "code/empty",
        "code/sub",
        "code/sub/script",
        "odd",
    ]
    assert found["code/sub/script"] == (0o100755, b"#!/bin/sh\n")
    assert found["odd"] == (0o100644, b"12345")
    assert found["dev/console"][0] == 0o020600


def test_what_runs_in_the_guest_needs_the_standard_library_alone(tmp_path: Path) -> None:
    """The guest has no numpy and no pydantic: it would die as it comes up."""
    package = paths.code() / "fsgreen"
    for pattern in image.CODE:
        files = list(package.glob(pattern))
        assert files, f"{pattern} names nothing"
        for file in files:
            copy = tmp_path / "fsgreen" / file.relative_to(package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    script = (
        "import fsgreen.stacks.guest.agent, fsgreen.stacks.guest.job\n"
        "from fsgreen.stacks import cache\n"
        "import pathlib; print(cache.resident_share(pathlib.Path('.')))\n"
    )
    (tmp_path / "file").write_bytes(bytes(100_000))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append('.')\n{script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) <= 1


def test_without_apt_it_says_how_to_get_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "program", lambda name: None)
    with pytest.raises(FsgreenError, match="no apt to get them") as told:
        packages.apt(tmp_path)
    assert "docs/vm.md" in (told.value.next_step or "")


def test_a_mirror_without_the_packages_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if paths.program("apt-get") is None:
        pytest.skip("needs apt: Debian or Ubuntu")
    if not debian.KEYRING.exists():
        pytest.skip("needs Debian's keys: apt-get install debian-archive-keyring")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(debian.MIRROR, f"file:{tmp_path}/empty")
    with pytest.raises(FsgreenError, match="cannot be downloaded") as told:
        packages.downloaded(tmp_path / "apt")
    assert debian.MIRROR in (told.value.next_step or "")


def test_a_cache_without_space_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(paths, "free_b", lambda folder: image.BUILD_B - 1)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(FsgreenError, match="needs 1200 MiB to be made, 1199 MiB are free"):
        image.ensure()
    assert [file.name for file in image.folder().iterdir()] == ["lock"]


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room is not what it lacks."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(FsgreenError, match="could not be made: Not a directory") as told:
        image.ensure()
    assert "move the cache" in (told.value.next_step or "")
    assert "space" not in (told.value.next_step or "")


def test_another_architecture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of an ARM machine would not run in the guest."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(FsgreenError, match="this one is aarch64"):
        image.ensure()


def test_the_image_says_what_it_is_made_of_and_is_small() -> None:
    made = need_guest()
    found = made.manifest["packages"]
    assert {"reiserfsprogs", "nilfs-tools", "f2fs-tools", "fio", "librocksdb7.8"} <= set(found)
    assert all(len(one["sha256"]) == 64 and one["version"] for one in found.values())
    assert made.manifest["kernel"].startswith("6.1.")
    assert made.initrd.stat().st_size < LIMIT_B
    assert made.kernel.stat().st_size + made.initrd.stat().st_size < 2 * LIMIT_B
    assert json.loads((image.folder() / "image" / "manifest.json").read_text()) == made.manifest
    before = made.initrd.stat().st_mtime_ns
    assert image.ensure().initrd.stat().st_mtime_ns == before, "it was made again"


@nightly
@pytest.mark.slow
def test_two_builds_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who builds it from the packages of a manifest has the guest that a campaign ran in."""
    made = need_guest()
    apt = image.folder() / "apt"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image.folder().mkdir(parents=True)
    os.symlink(apt, image.folder() / "apt")
    again = image.ensure()
    assert again.manifest == made.manifest
