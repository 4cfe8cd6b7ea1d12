"""The engine, where it is built."""

import pytest

from fsgreen import paths


@pytest.fixture
def engine() -> None:
    """Skip a test that needs the engine, saying how to get it."""
    pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    if paths.program("fsgreen-wml") is None:
        pytest.skip("engine not installed: run ./run engine")
