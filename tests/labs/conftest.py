"""What the labs run on: disks in virtual time, and the trials of a mail server."""

from collections.abc import Callable, Iterator
from functools import cache

import mail_trials
import pytest
import small_labs
import virtual_samples
from played import Played


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Played]]:
    """Play a lab to its end, once for all tests of a file."""
    engine = pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    if not hasattr(engine, "decisions"):
        pytest.skip("the engine is older than the labs: run ./run engine")
    folder = tmp_path_factory.mktemp("labs")
    mail_trials.write(folder / "data")
    virtual_samples.write(folder / "data")
    parameters = small_labs.parameters(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder / "data"))
        yield cache(lambda name: Played(name, **parameters.get(name, {})))
