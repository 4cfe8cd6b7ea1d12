"""What cannot fit is refused at once, and nothing stands in the way of a smaller plan."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsgreen import audit, campaign, testbeds
from fsgreen.campaign.fitting import load_workloads
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError

SHIPPED = r"(?<!cp -n )studies/fast10\.yaml"
"""A file that somebody is told to change, and not to copy."""

Behave = Callable[[Callable[[dict[str, Any]], None]], None]


def having(plan: Plan, **levels: str) -> Plan:
    """The plan with these levels in all of its cells."""
    trials = [replace(each, cell=each.cell.but(**levels)) for each in plan.trials]
    return replace(plan, trials=tuple(trials))


@pytest.fixture
def refused(data: Path, behave: Behave, bed: testbeds.Testbed) -> Callable[[Plan, str], None]:
    """Return a function that holds a campaign of a plan to be refused, and to leave nothing."""

    def check(plan: Plan, reason: str) -> None:
        with pytest.raises(FsgreenError, match=reason) as caught:
            campaign.run(plan, "demo", testbed=bed)
        next_step = caught.value.next_step or ""
        assert next_step and not re.search(SHIPPED, next_step), "shipped campaigns rest on it"
        assert not campaign.Campaign("demo").folder.exists()

    return check


def test_files_larger_than_the_image_are_refused(
    refused: Callable[[Plan, str], None], plan: Plan
) -> None:
    small = replace(plan, profile=replace(plan.profile, image_b=2**19))
    refused(small, r"\w+ at scale 0\.05 needs 1 MiB, the image has 0 MiB")


def test_files_larger_than_the_memory_cannot_be_warm(
    refused: Callable[[Plan, str], None], plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {**audit.audit(), "memory_b": 2**19}
    monkeypatch.setattr(audit, "audit", lambda: small)
    refused(having(plan, cache="warm"), r"the cache cannot be warm: the files of \w+ have 1 MiB")


def test_an_option_that_the_testbed_lacks_is_refused(
    refused: Callable[[Plan, str], None], plan: Plan
) -> None:
    """A directory has the file system that it lies on, with the options that it was made with."""
    refused(having(plan, option="blk1k"), "blk1k")


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_a_cold_cache_is_refused_where_files_are_memory(
    cache: str, data: Path, behave: Behave, bed: testbeds.Testbed, plan: Plan
) -> None:
    """Hours of trials on tmpfs would only then be found to be none that were declared."""

    class InMemory:
        def __getattr__(self, name: str) -> Any:
            return getattr(bed, name)

        def describe(self) -> dict[str, Any]:
            return {**bed.describe(), "cold_cache": False}

    wanted = having(plan, cache="warm") if cache == "warm" else plan
    if cache == "warm":
        assert load_workloads(wanted, InMemory())
        return
    with pytest.raises(FsgreenError, match=r"the cache cannot be cold on \w+") as caught:
        campaign.run(wanted, "demo", testbed=InMemory())
    assert "cache: warm` in studies/fast10-own.yaml" in (caught.value.next_step or "")
    assert not campaign.Campaign("demo").folder.exists()
