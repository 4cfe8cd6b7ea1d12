"""A plan says how large its files are, beside the memory that may answer for the device."""

import pytest

from fsgreen import design, paths
from fsgreen.campaign import sizes
from fsgreen.errors import FsgreenError


@pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="the engine is not installed (./run engine)"
)
def test_files_that_memory_holds_are_told_from_files_that_it_does_not() -> None:
    study = design.load_study("fast10")
    bounded, free = (
        dict(
            line.strip().split(": ", 1)
            for line in [*sizes.of_files(design.make_plan(study, profile))][1:]
        )
        for profile in ("turns", "quick")
    )
    over_memory = {name: float(line.split()[2]) for name, line in bounded.items()}
    assert over_memory["fileserver"] > 1 and over_memory["oltp"] > 1
    assert bounded["fileserver"].startswith("1250 MiB, 6.1 of the memory that may cache them, ")
    assert float(free["fileserver"].split()[2]) < 1


def test_without_the_engine_a_plan_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise FsgreenError("the workload engine is not installed")

    monkeypatch.setattr(sizes, "workload_of", none)
    plan = design.make_plan(design.load_study("fast10"), "quick")
    _, *lines = sizes.of_files(plan)
    assert len(lines) == 4
    assert all(line.endswith("not known: the workload engine is not installed") for line in lines)
