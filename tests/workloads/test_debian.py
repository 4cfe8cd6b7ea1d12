"""Programs of Debian as workloads. The packages of these tests are made by them: no network."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fsgreen import commands, debian, elsewhere, paths, workloads
from fsgreen.debian import Apt, Package
from fsgreen.durable import sha256_of
from fsgreen.errors import FsgreenError
from fsgreen.workloads import WorkloadFailed
from fsgreen.workloads.debian import Build, Start, files

SEED, LONGEST_S = 7, 300.0

nightly = pytest.mark.skipif(
    not os.environ.get("FSGREEN_NIGHTLY"),
    reason="downloads 100 MB: FSGREEN_NIGHTLY=1 ./run test tests/workloads/test_debian.py",
)
CONTROL = "Source: greeting\nMaintainer: A <a@b.c>\n\nPackage: greeting\nArchitecture: all\n"
CHANGELOG = """\
greeting (1) x; urgency=low

  * It is new.

 -- A <a@b.c>  Thu, 01 Jan 2026 00:00:00 +0000
"""
LOADER = Path("/lib64/ld-linux-x86-64.so.2")


def need(*programs: str) -> None:
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"needs {name} of Debian or Ubuntu: {commands.remedy(name)}")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a cache of its own, and an apt that downloads nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Apt, "__init__", lambda self, folder, **named: None)
    return tmp_path / "cache" / "fsgreen" / "debian"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give what makes the source package `greeting`, which `make` copies a text of."""
    need("dpkg-source", "make", "cc")

    def make(text: str) -> None:
        tree = tmp_path / text / "greeting-1"
        (tree / "debian" / "source").mkdir(parents=True)
        (tree / "text").write_text(text)
        (tree / "configure").write_text("(cat text; pwd) >configured")
        (tree / "Makefile").write_text("built: configured\n\tcp configured built\n")
        (tree / "debian" / "source" / "format").write_text("3.0 (native)\n")
        (tree / "debian" / "control").write_text(CONTROL)
        (tree / "debian" / "changelog").write_text(CHANGELOG)
        subprocess.run(
            ["dpkg-source", "--build", tree.name], cwd=tree.parent, check=True, capture_output=True
        )
        file = tree.parent / "greeting_1.dsc"
        package = Package("greeting", "1", sha256_of(file), file)
        monkeypatch.setattr(Apt, "source", lambda self, name: package)

    return make


def build(*command: str, configure: str = "configure", makes: str = "built") -> Build:
    return Build(
        *("mine", 1.0, {}, "greeting", makes),
        configure=["sh", configure],
        command=command or ["make"],
        size_mib=1,
    )


def test_a_source_is_configured_once_and_compiled_in_each_trial(
    tmp_path: Path, source: Callable[[str], None]
) -> None:
    """The time of a trial would be that of a configure script."""
    source("first")
    one = build()
    one.check()
    source("second")  # what comes out later is for those who remove the cache
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        build().prepare(tmp_path / name, SEED)
        copied = tmp_path / name / files.FOLDER
        assert (copied / "configured").read_text().startswith("first")
        outcome = build().run(tmp_path / name, SEED, 0.0, LONGEST_S)
        assert (copied / "built").read_text().startswith("first")
        assert outcome.summary.work_ops == 1 and outcome.summary.finished
        assert outcome.summary.engine == "greeting 1"
        assert 0 < outcome.summary.duration_s < LONGEST_S
    assert one.text_sha256() == build().text_sha256() != build("make", "-j2").text_sha256()


def test_other_packages_are_another_workload(cache: Path, source: Callable[[str], None]) -> None:
    """Trials of different versions would be averaged, and those of two machines would not."""
    source("first")
    before = build().text_sha256()
    shutil.rmtree(cache)
    assert build().text_sha256() == before, "configure writes down where it ran"
    shutil.rmtree(cache)
    source("second")
    assert build().text_sha256() != before


@pytest.mark.parametrize(
    ("mine", "what"),
    [
        (build("make", "nothing"), "does not run here: the command of the workload mine ended"),
        (build("./missing"), "does not run here: the command of the workload mine ended"),
        (build(makes="other"), "does not run here: other was not made"),
        (build(makes="text"), "does not run here: text was there before"),
        (build(configure="text"), "greeting cannot be configured: .*first"),
        (build("no-such-program"), "mine needs no-such-program, which is not installed"),
    ],
)
def test_what_cannot_be_compiled_is_refused_before_the_first_trial(
    mine: Build, what: str, source: Callable[[str], None], tmp_path: Path
) -> None:
    """Each of its trials would fail, or measure nothing."""
    source("first")
    with pytest.raises(FsgreenError, match=what) as told:
        mine.check()
        mine.prepare(tmp_path, SEED)
    assert told.value.next_step
    assert not (tmp_path / files.FOLDER).exists()


def test_what_is_compiled_already_is_no_trial(
    tmp_path: Path, source: Callable[[str], None]
) -> None:
    """A tenth of a second would count as a compilation."""
    source("first")
    build().prepare(tmp_path, SEED)
    build().run(tmp_path, SEED, 0.0, LONGEST_S)
    with pytest.raises(WorkloadFailed, match="built was there before it was made"):
        build().run(tmp_path, SEED, 0.0, LONGEST_S)


def test_files_in_the_cache_that_were_changed_are_refused(
    cache: Path, source: Callable[[str], None]
) -> None:
    """Who runs make there by hand would measure an empty make from then on."""
    source("first")
    build().check()
    before = build().text_sha256()
    (file,) = cache.glob("*/files/text")
    file.write_text("other")
    with pytest.raises(FsgreenError, match="were changed since they were made") as told:
        build().check()
    assert told.value.next_step is not None and str(file.parents[1]) in told.value.next_step
    assert build().text_sha256() != before


def test_a_compiler_of_the_environment_is_not_taken(
    source: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A trial would do other work on the machine of somebody else."""
    source("first")
    monkeypatch.setenv("MAKEFLAGS", "--no-such-option")
    build().prepare(tmp_path, SEED)


def test_files_that_cannot_be_copied_fail_with_what_to_do(
    cache: Path, tmp_path: Path, source: Callable[[str], None]
) -> None:
    """An error of shutil, or of the system, is none that a campaign expects."""
    source("first")
    mine = build()
    mine.check()
    (tmp_path / files.FOLDER).write_text("in the way")
    with pytest.raises(FsgreenError, match="could not be copied") as told:
        mine.prepare(tmp_path, SEED)
    assert "image_mib" in (told.value.next_step or "")
    (tmp_path / files.FOLDER).unlink()
    (made,) = cache.glob("*/files")
    os.mkfifo(made / "pipe")
    with pytest.raises(FsgreenError, match=r"could not be copied: .*pipe"):
        mine.prepare(tmp_path, SEED)


def test_a_cache_that_was_left_half_made_is_made_again(
    cache: Path, source: Callable[[str], None]
) -> None:
    """Files without their record, and what a killed process left."""
    source("first")
    build().check()
    (made,) = (folder for folder in cache.iterdir() if folder.is_dir())
    (made / files.RECORD).unlink()
    (made / files.FOLDER / "text").write_text("half")
    (cache / f"{files.UNFINISHED}x").mkdir()
    build().check()
    assert {file.name for file in cache.iterdir()} == {"lock", made.name}
    assert (made / files.FOLDER / "text").read_text() == "first"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a package of `tty`, which fails without a terminal, with this machine's libraries."""
    need("dpkg-deb", "script")
    if not LOADER.exists():
        pytest.skip("needs a machine as the packages are for: x86_64 with glibc")
    tree = tmp_path / "package"
    folder = tree / debian.LIBRARIES[0]
    folder.mkdir(parents=True)
    shutil.copy(LOADER, tree / debian.LOADER)
    found = shutil.which("tty")
    assert found is not None
    listed = subprocess.run([LOADER, "--list", found], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        if "=> /" in line:
            shutil.copy(line.split()[2], folder)
    (tree / "usr" / "bin").mkdir(parents=True)
    shutil.copy(found, tree / "usr" / "bin" / "tty")
    (tree / "usr" / "share" / "doc").mkdir(parents=True)
    (tree / "usr" / "share" / "doc" / "long").write_text("x" * 1000)
    (tree / "DEBIAN").mkdir()
    control = "Package: terminal\nVersion: 2\nArchitecture: all\nMaintainer: A\nDescription: it\n"
    (tree / "DEBIAN" / "control").write_text(control)
    file = tmp_path / "terminal_2_all.deb"
    subprocess.run(["dpkg-deb", "--build", tree, file], check=True, capture_output=True)
    packages = [Package("terminal", "2", sha256_of(file), file)]
    monkeypatch.setattr(Apt, "install", lambda self, names: packages)


@pytest.mark.usefixtures("program")
def test_a_program_runs_by_its_own_libraries_on_a_terminal(tmp_path: Path) -> None:
    """It would start from this machine's own files, or not as people start it."""
    start = Start(
        "mine", 1.0, {}, ["terminal"], ["usr/bin/tty"], {"HOME": "{files}"}, ["usr/share/doc"]
    )
    start.check()
    place = tmp_path / "a 'quoted' place"
    place.mkdir()
    start.prepare(place, SEED)
    copied = place / files.FOLDER
    assert not (copied / "usr" / "share" / "doc").exists()
    done = start.run(place, SEED, 0.0, LONGEST_S).summary
    assert (done.work_ops, done.engine) == (1, "terminal 2")
    (copied / debian.LIBRARIES[0] / "libc.so.6").write_text("not a library")
    with pytest.raises(WorkloadFailed, match="workload mine ended with status 127"):
        start.run(place, SEED, 0.0, LONGEST_S)


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("pattern", ["usr/share/dok", "/usr/share/doc", "../*"])
def test_a_pattern_that_matches_nothing_inside_is_told(pattern: str) -> None:
    with pytest.raises(FsgreenError, match="no file of the packages matches"):
        Start("mine", 1.0, {}, ["terminal"], ["usr/bin/tty"], left_out=[pattern]).check()


@pytest.mark.usefixtures("program")
def test_a_package_under_another_name_is_told() -> None:
    with pytest.raises(FsgreenError, match="no package of the name terminal:amd64"):
        Start("mine", 1.0, {}, ["terminal:amd64"], ["usr/bin/tty"]).check()


@nightly
def test_those_that_ship_are_downloaded_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian may have other versions, in other folders."""
    need("apt-get", "dpkg-source", "cc", "make", "script")
    if not debian.KEYRING.exists():
        pytest.skip("needs Debian's keys: apt-get install debian-archive-keyring")
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("openssh", "emacs"):
        workload, place = workloads.load_workload(name), tmp_path / name
        place.mkdir()
        workload.check()
        workload.prepare(place, SEED)
        assert workload.run(place, SEED, 0.0, LONGEST_S).summary.engine.startswith(name)


def test_a_guest_or_another_size_is_refused_before_anything_is_made(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(FsgreenError, match="has one size: that of its packages"):
        workloads.load_workload("emacs", 0.5).check()
    with elsewhere.entered(object()), pytest.raises(FsgreenError, match="not in a guest"):  # type: ignore[arg-type]
        workloads.load_workload("openssh").check()
    assert not cache.exists()


def test_they_are_offered_to_every_study() -> None:
    assert {"emacs", "openssh"} <= set(workloads.offered())
    assert workloads.summary("emacs") == "Emacs of Debian 12 starts on a terminal, and ends."


def test_a_machine_without_apt_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("script")
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    program = paths.program
    monkeypatch.setattr(paths, "program", lambda name: None if "apt" in name else program(name))
    with pytest.raises(FsgreenError, match="emacs takes files from Debian packages, and") as told:
        workloads.load_workload("emacs").check()
    assert told.value.next_step == "leave it out of the profile"
