"""A trial begins in the state that its cell asks for, or it does not count."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsgreen import audit, campaign, testbeds, trial
from fsgreen.campaign import drive
from fsgreen.design import Cell, Plan
from fsgreen.errors import FsgreenError

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("caches_kept")]

Behave = Callable[[Callable[[dict[str, Any]], None]], None]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """One attempt is enough at a trial that is refused."""
    monkeypatch.setattr(drive, "ATTEMPTS", 1)


def of_cells(plan: Plan, *cells: Cell, **bounds: float) -> Plan:
    """The plan with these cells in one block."""
    trials = tuple(
        replace(planned, cell=cell, trial=f"b01-{nth:03d}-{cell.label}", order=nth)
        for nth, (planned, cell) in enumerate(zip(plan.trials, cells, strict=False), start=1)
    )
    return replace(plan, baseline=cells[0], trials=trials, bounds={**plan.bounds, **bounds})


def checks_of(found: trial.Trial) -> dict[int, str]:
    return {check.rule: check.detail for check in found.record.checks if check.ok}


class Cached:
    """A testbed that says how much of its files is cached."""

    def __init__(self, bed: testbeds.Testbed, share: float) -> None:
        self._bed, self._share = bed, share

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bed, name)

    def resident_share(self) -> float:
        return self._share

    def warm(self) -> float:
        return self._share


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("cache", "share"), [("cold", 0.5), ("warm", 0.5)])
def test_a_cache_in_another_state_does_not_count_and_is_not_worked_on(
    cache: str, share: float, data: Path, behave: Behave, bed: testbeds.Testbed, plan: Plan
) -> None:
    runs: list[int] = []
    behave(lambda summary: runs.append(1))
    cell = plan.baseline.but(cache="warm" if cache == "warm" else None)
    with pytest.raises(FsgreenError, match="broke a rule"):
        campaign.run(of_cells(plan, cell), "demo", testbed=Cached(bed, share))  # type: ignore[arg-type]
    reasons = {
        found.record.reason for found in trial.list_invalid(campaign.Campaign("demo").folder)
    }
    assert len(reasons) == 1
    assert reasons.pop().startswith(f"rule 7: {cache}: 50.0 % of the files' bytes in memory")
    assert runs == []


@pytest.mark.usefixtures("impatient")
def test_a_machine_that_became_slower_does_not_count(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What halved the shipped campaign's first block showed in nothing that the audit read."""
    speeds = iter([100.0] + [50.0] * 20)
    machine = audit.audit()
    monkeypatch.setattr(audit, "audit", lambda: {**machine, "speed_loops_s": next(speeds)})
    bounded = of_cells(plan, plan.baseline, speed_percent=5)
    with pytest.raises(FsgreenError, match="broke a rule"):
        campaign.run(bounded, "demo", testbed=bed)
    reason = trial.list_invalid(campaign.Campaign("demo").folder)[0].record.reason
    told = "rule 9: speed of a core -50.0 % against the campaign's first audit"
    assert told in reason.split("; ")


@pytest.fixture
def loop() -> Iterator[testbeds.Testbed]:
    with testbeds.open_testbed("loop", in_memory=True, size_b=2**28, scheduler="none") as opened:
        yield opened


@pytest.mark.loop
@pytest.mark.usefixtures("patient")
@pytest.mark.skipif(os.geteuid() != 0, reason="makes file systems on loop devices: run as root")
def test_warm_and_aged_are_made_verified_and_in_the_record_and_the_tables(
    data: Path, behave: Behave, loop: testbeds.Testbed, plan: Plan
) -> None:
    from fsgreen import reduce

    cells = (
        Cell(workload="webserver", file_system="ext4"),
        Cell(workload="webserver", file_system="ext4", cache="warm", device="aged"),
    )
    asked = replace(
        of_cells(plan, *cells),
        constants={"cache": "cold", "device": "initial", "scheduler": "none"},
    )
    campaign.run(asked, "demo", testbed=loop)
    plain, changed = trial.list_trials(campaign.Campaign("demo").folder)
    assert checks_of(plain)[7].startswith("cold: 0.0 %")
    assert checks_of(plain)[8].startswith("initial")
    assert "cache" not in plain.record.cell
    assert checks_of(changed)[7].startswith("warm: 100.0 %")
    assert checks_of(changed)[8].startswith("aged: ")
    assert changed.record.cell["device"] == "aged"
    assert changed.record.mount["fragmentation"]
    reduce.write("demo")
    trials = reduce.read_table("demo", "trials")
    assert trials["cache"].tolist() == ["cold", "warm"]
    assert trials["device"].tolist() == ["initial", "aged"]
    assert trials["scheduler"].tolist() == ["none", "none"]
    assert trials["resident_percent"].tolist() == [0, 100]
