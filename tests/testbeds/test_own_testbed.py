"""Testbeds of other packages: the example of CONTRIBUTING.md, and one that is broken."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from loops import levels, need

from fsgreen import paths
from fsgreen.campaign import testbedfile
from fsgreen.devices import folders, mounts
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import find, kinds, open_testbed

pytestmark = pytest.mark.usefixtures("caches_kept")


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, source: str, points: dict[str, str]
) -> None:
    """Install a package of one module with entry points, for one test."""
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir()
    (folder / f"{module}.py").write_text(source)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (about / "entry_points.txt").write_text("\n".join(["[fsgreen.testbeds]", *lines, ""]))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)


def example(language: str, number: int = 0) -> str:
    """A block of a language below `Adding a device or a stack` in CONTRIBUTING.md."""
    text = (paths.root() / "CONTRIBUTING.md").read_text()
    section = text.partition("## Adding a device or a stack")[2]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)[number]


@pytest.mark.loop
def test_the_stack_of_the_example_is_found_and_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever follows CONTRIBUTING.md has a testbed: known by name, cold, and gone at the end."""
    need("ext4")
    if "overlay" not in Path("/proc/filesystems").read_text():
        pytest.skip("no overlay in this kernel: modprobe overlay")
    points = tomllib.loads(example("toml"))["project"]["entry-points"]["fsgreen.testbeds"]
    install(tmp_path, monkeypatch, "fsgreen_overlay", example("python"), points)
    assert "overlay" in kinds()
    assert testbedfile.read("overlay").kind == "overlay"
    with open_testbed("overlay", in_memory=True, size_b=64 << 20) as bed:
        assert bed.describe()["kind"] == "overlay"
        mount = bed.prepare(levels("ext4", "noatime"))
        (mount.directory / "file").write_bytes(b"x" * 100_000)
        assert mounts.holding(mount.directory).file_system == "overlay"
        mount = bed.remount()
        assert bed.resident_share() == 0
        assert (mount.directory / "file").read_bytes() == b"x" * 100_000
        assert bed.warm() == 1
        bed.restore()
        assert not mounts.under(mount.directory)


@pytest.mark.loop
def test_the_device_of_the_example_is_found_and_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever follows CONTRIBUTING.md has a device: formatted, recorded, and gone at the end."""
    need("ext4")
    points = tomllib.loads(example("toml", 1))["project"]["entry-points"]["fsgreen.testbeds"]
    install(tmp_path, monkeypatch, "fsgreen_sectors", example("python", 1), points)
    with open_testbed("sectors4k", in_memory=True, size_b=64 << 20) as bed:
        mount = bed.prepare(levels("ext4"))
        assert bed.describe()["logical_block_b"] == 4096
        (mount.directory / "file").write_bytes(b"x" * 100_000)
        assert (bed.remount().directory / "file").read_bytes() == b"x" * 100_000
        folder = bed.device.work.path
    assert not folder.exists()
    assert folders.NAME.fullmatch(folder.name), "a killed one would not be swept"


@pytest.mark.parametrize(
    ("source", "said"),
    [("import nothing_such", "cannot be imported: No module"), ("KIND = 3", "is 3, not a Kind")],
)
def test_a_broken_package_is_named(
    source: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "fsgreen_broken", source, {"broken": "fsgreen_broken:KIND"})
    with pytest.raises(FsgreenError, match=said) as caught:
        find("broken")
    assert caught.value.where == "fsgreen_broken:KIND"
