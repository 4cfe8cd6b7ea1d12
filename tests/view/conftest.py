"""What the tests of the cockpit begin with."""

import pytest

from tests.view import composed


@pytest.fixture
def project(tmp_path, monkeypatch):
    composed.project(tmp_path / "project", monkeypatch)
    return tmp_path / "project"
