"""Two campaigns of one study on two machines, analysed, and what they would send in."""

import pytest

from fsgreen import gathered
from tests.gathered import sending


@pytest.fixture(scope="session")
def campaigns(tmp_path_factory):
    """The data folder of both campaigns."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("data")
        patch.setenv("FSGREEN_DATA", str(folder))
        sending.analyse("one", 1, 1.0)
        sending.analyse("two", 2, 1.2)
    return folder


@pytest.fixture
def here(campaigns, tmp_path, monkeypatch):
    """An empty working directory, beside the data of the campaigns."""
    monkeypatch.setenv("FSGREEN_DATA", str(campaigns))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def sent(campaigns):
    """What both campaigns would send in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(campaigns))
        return [gathered.results_of(name) for name in ("one", "two")]
