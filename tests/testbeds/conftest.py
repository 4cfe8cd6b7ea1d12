"""Every test has a registry of its own and leaves nothing mounted or attached."""

from collections.abc import Iterator

import pytest
from loops import foreign_loop, private_registry
from served import IDE, SIZE_B

from fsgreen.testbeds import Disk, Testbed, open_testbed

__all__ = ["foreign_loop", "private_registry"]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        opened = open_testbed("simdisk", size_b=SIZE_B, disk=Disk(IDE))
    with opened:
        yield opened
