"""Every test has a registry of its own and leaves nothing mounted or attached."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import foreign_loop, private_registry
from served import IDE, SIZE_B, serve_patiently

from fsgreen import commands
from fsgreen.devices import served as of_devices
from fsgreen.simdisk.server import require
from fsgreen.testbeds import Disk, Testbed, open_testbed

__all__ = ["foreign_loop", "private_registry"]

SLOWER = {
    "capacity_gib = 74.53": "capacity_gib = 1.0",
    "command_ms = 0.025": "command_ms = 1.0",
    "bandwidth_mb_s = 250.0": "bandwidth_mb_s = 25.0",
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the moment in which a busy machine is fast enough for a disk."""
    monkeypatch.setattr(of_devices, "Server", serve_patiently)


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setattr(of_devices, "Server", serve_patiently)
        opened = open_testbed("simdisk", size_b=SIZE_B, disk=Disk(IDE))
    with opened:
        yield opened


@pytest.fixture
def ssd(tmp_path: Path) -> str:
    """A file with the parameters of a small SSD, which any machine can serve."""
    text = commands.run([require(), "show", "x25-m-g2"])
    for word, slower in SLOWER.items():
        assert word in text
        text = text.replace(word, slower)
    file = tmp_path / "ssd.toml"
    file.write_text(text)
    return str(file)
