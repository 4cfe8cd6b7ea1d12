"""A campaign that was measured: whole, with the energy of its traces, and never another's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fsgreen import campaign, design, meters, testbeds, trial
from fsgreen.campaign import trialphases
from fsgreen.errors import FsgreenError
from tests.campaign.conftest import PHASES, be_patient, be_scripted, directory, plan_of

pytestmark = pytest.mark.slow


class Measured(NamedTuple):
    """A campaign that was measured, and with what."""

    campaign: campaign.Campaign
    bed: testbeds.Testbed
    plan: design.Plan


def state_of(folder: Path) -> dict[Path, int]:
    """Return when each file of a folder was changed."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    """Measure two trials, with the two meters that every user without one has."""
    data = tmp_path_factory.mktemp("measured")
    with directory() as opened:
        plan = plan_of(opened, PHASES)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FSGREEN_DATA", str(data))
            be_scripted(patch, lambda summary: None)
            be_patient(patch)
            done = campaign.run(plan, "demo", testbed=opened)
        yield Measured(done, opened, plan)


@pytest.fixture
def measured(measured_once: Measured) -> Iterator[Measured]:
    """Return the campaign `demo`, measured once for all tests that only read it.

    FSGREEN_DATA names its folder meanwhile, and its workload can be loaded.
    """
    before = state_of(measured_once.campaign.folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(measured_once.campaign.folder.parents[1]))
        be_scripted(patch, lambda summary: None)
        yield measured_once
    assert state_of(measured_once.campaign.folder) == before, "a test changed what all share"


def test_all_trials_are_measured_once_and_a_second_start_adds_none(measured: Measured) -> None:
    done, bed, plan = measured
    found = trial.list_trials(done.folder)
    assert [one.name for one in found] == [planned.trial for planned in plan.trials]
    for one in found:
        one.verify()
        names = [phase.name for phase in one.record.phases]
        assert names == list(trialphases.PHASES)
        follow = zip(one.record.phases, one.record.phases[1:], strict=False)
        assert all(a.end_s <= b.start_s for a, b in follow)
        assert one.record.boundary == "modelled"
        assert one.record.plan_hash == plan.hash
        assert {check.rule for check in one.record.checks} >= {
            7,
            8,
            9,
            10,
            11,
            13,
            14,
            16,
            20,
            21,
            40,
        }
        assert 0 <= one.record.resident_share <= 1
        assert one.record.flush.dirty_before_b >= 0
        reparsed = meters.reparse(one.folder / "power.raw")
        assert reparsed.equals(one.table("power"))
    before = state_of(done.folder)
    campaign.run(plan, "demo", testbed=bed)
    assert state_of(done.folder) == before


def test_energy_in_the_record_is_that_of_the_trace(measured: Measured) -> None:
    """It is computed once, and everything after rests on it."""
    found, *_ = trial.list_trials(measured.campaign.folder)
    assert found.record.energy.keys() == found.record.meters.keys()
    computed = trial.computed_energies(found)
    for name, said in found.record.energy.items():
        assert repr(said) == repr(computed[name])
        assert said.energy_j > 0
    assert set(found.record.efficiency_meters) == found.record.meters.keys()


def test_other_meters_under_a_campaign_that_began_are_refused(measured: Measured) -> None:
    identity = measured.campaign.identity()
    identity["meters"]["system"]["serial"] = "another"
    with pytest.raises(FsgreenError, match="the meters is not the one"):
        measured.campaign.check_identity(identity)


def test_another_testbed_is_refused_also_where_nothing_is_missing(
    measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user would read the trials of a loop device as those of a disk that never turned."""
    with testbeds.open_testbed("directory", folder=tmp_path, size_b=2**21) as another:
        described = {**another.describe(), "kind": "loop"}
        monkeypatch.setattr(another, "describe", lambda: described)
        with pytest.raises(FsgreenError, match="the testbed is not the one"):
            campaign.run(measured.plan, "demo", testbed=another)
