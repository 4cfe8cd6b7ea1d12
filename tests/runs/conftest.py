"""What tests of imported runs share."""

import pytest


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Results go to a folder of the test."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
