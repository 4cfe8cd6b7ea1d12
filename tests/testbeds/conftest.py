"""Every test has a registry of its own and leaves nothing mounted or attached."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import foreign_loop, private_registry
from served import IDE, SIZE_B, serve_patiently, small_ssd

from fsgreen.devices import served as of_devices
from fsgreen.testbeds import Disk, Testbed, open_testbed

__all__ = ["foreign_loop", "private_registry"]


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
    return small_ssd(tmp_path)
