"""The workloads by name and scale."""

import sys

import pytest

from fsgreen import paths, workloads
from fsgreen.errors import FsgreenError


def test_the_four_servers_of_fast10_are_there() -> None:
    assert workloads.names() == ["fileserver", "oltp", "varmail", "webserver"]


def test_a_misspelt_workload_names_the_nearest_and_all() -> None:
    with pytest.raises(FsgreenError, match=r"varmial.*varmail.*Known: fileserver, oltp"):
        workloads.load_workload("varmial", 1)


@pytest.mark.parametrize("scale", [0, -1, float("nan")])
def test_a_scale_must_be_above_zero(scale: float) -> None:
    with pytest.raises(FsgreenError, match="scale"):
        workloads.load_workload("oltp", scale)


def test_without_the_engine_the_error_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workload = workloads.load_workload("oltp", 1)
    monkeypatch.setitem(sys.modules, "fsgreen_engine", None)
    with pytest.raises(FsgreenError, match=r"\./run engine"):
        _ = workload.size_b
    monkeypatch.setattr(paths, "program", lambda name: None)
    with pytest.raises(FsgreenError, match=r"\./run engine"):
        workload.check()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("name", "published_b"),
    [
        ("webserver", 20_000 * 32 * 2**10),
        ("fileserver", 50_000 * 256 * 2**10),
        ("varmail", 50_000 * 16 * 2**10),
        ("oltp", 10 * 512 * 2**20),
    ],
)
def test_the_size_is_the_published_one_and_follows_the_scale(name: str, published_b: int) -> None:
    """A disk that is too small would be found out only in mid-campaign."""
    small_logs_b = 16 * 2**20
    for scale in (1.0, 0.25):
        size_b = workloads.load_workload(name, scale).size_b
        assert 0 <= size_b - scale * published_b <= small_logs_b
