"""The wheels of the engine that ship in the DVC store: current, whole, and usable without Rust."""

import hashlib
import json
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from fsgreen import paths

ENGINE = paths.root() / "engine"
RENEW = "engine/ship.sh makes the wheels anew; commit what it names"
PROGRAMS = ("fsgreen-nfs", "fsgreen-simdisk", "fsgreen-wml", "fsgreen-ycsb", "greenfs")


def digest(engine: Path) -> str:
    """What engine/digest.sh prints in a copy of the engine's folder."""
    return subprocess.check_output([engine / "digest.sh"], text=True).strip()


def stored(md5: str) -> Path:
    return paths.root() / "data" / "store" / "files" / "md5" / md5[:2] / md5[2:]


@pytest.fixture(scope="module")
def shipped() -> dict[str, Path]:
    """The files of data/engine by name, where the store has them."""
    (folder,) = yaml.safe_load((paths.root() / "data" / "engine.dvc").read_text())["outs"]
    entries = json.loads(stored(folder["md5"]).read_text())
    return {entry["relpath"]: stored(entry["md5"]) for entry in entries}


def wheels(shipped: dict[str, Path]) -> dict[str, zipfile.ZipFile]:
    return {name: zipfile.ZipFile(at) for name, at in shipped.items() if name.endswith(".whl")}


def notice() -> set[tuple[str, str]]:
    """Name and version of the crates that NOTICE names."""
    text = (ENGINE / "py" / "NOTICE").read_text()
    return set(re.findall(r"^  (\S+) (\S+): \S", text, flags=re.MULTILINE))


def test_the_shipped_wheels_are_of_this_source(shipped: dict[str, Path]) -> None:
    """Otherwise every user builds the engine, or measures with another one than the source says."""
    made_from = json.loads(shipped["built-from.json"].read_text())
    assert made_from["source_sha256"] == digest(ENGINE), RENEW


def test_the_store_has_them_whole(shipped: dict[str, Path]) -> None:
    for at in shipped.values():
        assert hashlib.md5(at.read_bytes()).hexdigest() == at.parent.name + at.name
    machines = {re.sub(r".*manylinux_2_28_(\w+)\.whl", r"\1", name) for name in wheels(shipped)}
    assert machines == {"x86_64", "aarch64"}


def test_they_hold_all_programs_and_the_licences(shipped: dict[str, Path]) -> None:
    for wheel in wheels(shipped).values():
        held = {Path(entry.filename).name: entry for entry in wheel.infolist()}
        assert all(held[program].external_attr >> 16 & 0o111 for program in PROGRAMS)
        assert wheel.read(held["NOTICE"]) == (ENGINE / "py" / "NOTICE").read_bytes(), RENEW


def test_they_name_no_folder_of_the_machine_that_built_them(shipped: dict[str, Path]) -> None:
    for wheel in wheels(shipped).values():
        for name in wheel.namelist():
            found = re.search(rb"/(root|home)/|\.(cargo|rustup)/|crates\.io", wheel.read(name))
            assert not found, f"{name}: {found}"


def test_the_notice_is_of_the_locked_crates() -> None:
    locked = tomllib.loads((ENGINE / "Cargo.lock").read_text())["package"]
    assert notice()
    assert notice() <= {(crate["name"], crate["version"]) for crate in locked}, RENEW


def copy_of_source(folder: Path) -> Path:
    """A copy of what git has of the engine."""
    return shutil.copytree(ENGINE, folder / "engine", ignore=shutil.ignore_patterns("target"))


def test_the_digest_is_that_of_the_source_alone(tmp_path: Path) -> None:
    """Tests must not make a wheel old, nor a build, nor the name of the folder."""
    engine = copy_of_source(tmp_path)
    assert digest(engine) == digest(ENGINE)
    for unrelated in (
        "target/release/x.rs",
        "wml/tests/more.rs",
        "wml/src/record/records/tests.rs",
    ):
        (engine / unrelated).parent.mkdir(parents=True, exist_ok=True)
        (engine / unrelated).write_text("// another")
    assert digest(engine) == digest(ENGINE)


@pytest.mark.parametrize(
    "changed", ["wml/src/clock.rs", "Cargo.lock", "simdisk/disks/wd200bb.toml", "py/src/lib.rs"]
)
def test_the_digest_sees_every_change_of_the_source(changed: str, tmp_path: Path) -> None:
    engine = copy_of_source(tmp_path)
    with (engine / changed).open("a") as file:
        file.write("\n")
    assert digest(engine) != digest(ENGINE)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or platform.machine() not in ("x86_64", "aarch64"),
    reason="no wheel ships for this machine: ./run engine builds the engine",
)
def test_the_wheel_for_this_machine_works(shipped: dict[str, Path], tmp_path: Path) -> None:
    """A student without a compiler simulates a disk and checks a workload with it."""
    for name, at in shipped.items():
        shutil.copy(at, tmp_path / name)
    order = ["uv", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    place = tmp_path / "installed"
    subprocess.run([*order, place, "--find-links", tmp_path, "fsgreen-engine"], check=True)
    for program in PROGRAMS:
        said = subprocess.check_output([place / "bin" / program, "--version"], text=True)
        assert said.startswith(program)
    code = "import json, fsgreen_engine as e; print(json.dumps([e.__file__, e.simulate('%s')]))"
    asked = json.dumps({"disk": "wd200bb", "work": {"readers": {"readers": 2}}})
    said = subprocess.check_output(
        [sys.executable, "-c", code % asked], env=os.environ | {"PYTHONPATH": str(place)}, text=True
    )
    file, report = json.loads(said)
    assert file.startswith(str(place))
    assert len(report["readers"]) == 2


def program(file: Path, *lines: str) -> None:
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    file.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which `./run engine` works, with stand-ins that note how they are called."""
    shutil.copy2(paths.root() / "run", tmp_path)
    copy_of_source(tmp_path)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_text("")
    (tmp_path / ".venv" / "made-from").write_text(f"{tmp_path}\n")
    made_from = json.dumps({"source_sha256": digest(ENGINE)})
    program(
        programs / "dvc",
        'echo "dvc $*" >>calls',
        f"mkdir -p data/engine && echo '{made_from}' >data/engine/built-from.json",
    )
    program(
        programs / "uv", 'echo "uv $*" >>calls', 'case "$*" in *--no-index*) exit $FITS ;; esac'
    )
    program(programs / "cc")
    program(programs / "cargo", "echo cargo 1.85.0")
    program(
        tmp_path / "engine" / "build.sh", 'echo "build" >>calls', 'mkdir -p "$1"; : >"$1/a.whl"'
    )
    (programs / "apt-get").symlink_to("/bin/false")
    return tmp_path


def run_engine(checkout: Path, *arguments: str, fits: bool = True) -> list[str]:
    """The stand-ins that `./run engine` calls, in their order, by name."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "FITS": str(int(not fits))}
    run = [checkout / "run", "engine", *arguments]
    subprocess.run(run, env=environment, check=True, capture_output=True)
    calls = checkout / "calls"
    names = [line.split()[0] for line in calls.read_text().splitlines()] if calls.exists() else []
    calls.unlink(missing_ok=True)
    return names


def test_without_a_wheel_and_without_cargo_the_error_says_what_to_install(checkout: Path) -> None:
    program(checkout / ".venv" / "bin" / "cargo", "exit 127")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run_engine(checkout)
    assert b"needs cargo 1.85 or newer; here: none" in caught.value.stderr
    assert b"rustup" in caught.value.stderr


def same_source(checkout: Path) -> None:
    """Give the stand-in of the wheel the digest of the checkout, whose build.sh is another."""
    made_from = (checkout / ".venv" / "bin" / "dvc").read_text()
    changed = made_from.replace(digest(ENGINE), digest(checkout / "engine"))
    (checkout / ".venv" / "bin" / "dvc").write_text(changed)


def test_a_wheel_of_this_source_is_taken_once(checkout: Path) -> None:
    """Without Rust, and in no time when it is there already."""
    same_source(checkout)
    assert run_engine(checkout) == ["dvc", "uv"]
    assert run_engine(checkout) == []


def test_a_changed_source_is_built(checkout: Path) -> None:
    """What is measured with must be what stands there."""
    assert run_engine(checkout) == ["dvc", "build", "uv"]
    assert run_engine(checkout) == []


def test_a_machine_that_no_wheel_fits_builds(checkout: Path) -> None:
    same_source(checkout)
    assert run_engine(checkout, fits=False) == ["dvc", "uv", "build", "uv"]


def test_who_asks_for_it_builds(checkout: Path) -> None:
    same_source(checkout)
    assert run_engine(checkout) == ["dvc", "uv"]
    assert run_engine(checkout, "--from-source") == ["build", "uv"]
    assert run_engine(checkout) == []


@pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo: ./run engine --from-source")
def test_the_notice_names_every_crate_that_is_compiled_in() -> None:
    """Their licences ask for it."""
    script = runpy.run_path(str(ENGINE / "notice.py"))
    try:
        known = script["metadata"]()
    except subprocess.CalledProcessError:
        pytest.skip("cargo has not got the crates: ./run engine --from-source")
    crates = {(crate["name"], crate["version"]) for crate in script["compiled_in"](known)}
    assert notice() == crates, RENEW
