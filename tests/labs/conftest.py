"""What the labs run on: disks in virtual time, and the trials of a mail server."""

from collections.abc import Callable, Iterator
from functools import cache

import mail_trials
import pytest
from played import Played

from fsgreen.simdisk import server


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Played]]:
    """Play a lab to its end, once for all tests of a file."""
    engine = pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    if not hasattr(engine, "decisions"):
        pytest.skip("the engine is older than the labs: run ./run engine")
    folder = tmp_path_factory.mktemp("labs")
    mail_trials.write(folder / "data")
    flash = folder / "small.toml"
    drive = server.parameters("x25-m-g2")
    flash.write_text(drive.replace("capacity_gib = 74.53", "capacity_gib = 4.0"))
    parameters = {
        "fool_yourself_with_a_disk": {"profile": "ddys-t36950n", "flash": str(flash)},
        "teach_a_server_to_read_ahead": {"total_mib": 8},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder / "data"))
        yield cache(lambda name: Played(name, **parameters.get(name, {})))
