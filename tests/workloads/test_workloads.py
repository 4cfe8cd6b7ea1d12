"""The workloads by name and scale."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fsgreen import paths, workloads
from fsgreen.errors import FsgreenError

ROOT = Path(__file__).parents[2]
TEXTS = ROOT / "fsgreen" / "workloads" / "personalities"
FULLY_STATED = {"varmail", "webserver", "webserver-readonly"}


def test_every_workload_is_documented_and_every_documented_one_is_there() -> None:
    page = (ROOT / "docs" / "workloads.md").read_text()
    table = re.findall(r"^\| `([a-z0-9-]+)` \| [^|]+ \| \w+, (?:table|section) ", page, re.M)
    assert sorted(table) == workloads.names()


@pytest.mark.parametrize("name", workloads.names())
def test_every_text_names_its_study_and_what_that_leaves_open(name: str) -> None:
    """A number without a source could not be checked."""
    head = (TEXTS / f"{name}.f").read_text().partition("\n\n")[0]
    assert re.search(r"# (fast10|nfstricks03|greenfs08|sun14), (table|section) \d", head)
    assert "Not stated there" in head or name in FULLY_STATED
    for variable in ("scale", "load"):
        assert f"\n# {variable}: " in head


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", workloads.names())
def test_every_text_is_checked_without_a_warning(name: str) -> None:
    """A warning in what is shipped would teach people to pass over warnings."""
    program = paths.program("fsgreen-wml")
    assert program is not None
    command = [program, "check", str(TEXTS / f"{name}.f"), "--set", "dir=/mnt/test"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_misspelt_workload_names_the_nearest_and_all() -> None:
    with pytest.raises(FsgreenError, match=r"varmial.*varmail.*Known: compile, create-append"):
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
        ("webserver-sun14", 1_000 * 16 * 2**10),
        ("fileserver-sun14", 10_000 * 128 * 2**10),
        ("varmail-sun14", 1_000 * 16 * 2**10),
        ("webserver-readonly", 20_000 * 32 * 2**10),
        ("shared-append", 0),
        ("open-close", 50_000 * 256 * 2**10),
        ("create-append", 50_000 * 16 * 2**10),
        ("create-append-fsync", 50_000 * 16 * 2**10),
        ("sequential-readers", 256 * 2**20),
        ("stride-reader", 256 * 2**20),
        ("ring-reader", 256 * 2**20),
    ],
)
def test_the_size_is_the_published_one_and_follows_the_scale(name: str, published_b: int) -> None:
    """A disk that is too small would be found out only in mid-campaign."""
    small_logs_b = 16 * 2**20
    for scale in (1.0, 0.25):
        size_b = workloads.load_workload(name, scale).size_b
        assert 0 <= size_b - scale * published_b <= small_logs_b
