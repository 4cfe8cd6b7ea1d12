"""What a campaign says that ends because of trials which do not count."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from fsgreen import campaign, trial
from fsgreen.campaign.refused import refusal
from fsgreen.trial import Check

SHORT = Check(16, False, "3 % of 2500 J, above 2 %")


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> campaign.Campaign:
    """A campaign of one block: trials of 10 s at 250 W, with constant errors of 6 J."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("demo", synthetic.make_plan(blocks=1))
    return campaign.Campaign("demo")


def set_aside(
    begun: campaign.Campaign, *checks: Check, fixed_j: float = 0.0, **budget: float
) -> list[str]:
    """Make trials invalid, one for each check that failed; each meter's budget has these terms.

    `fixed_j` of each meter's constant errors does not grow.
    """
    names = []
    (begun.folder / "invalid").mkdir()
    trials = trial.list_trials(begun.folder)
    for found, check in zip(trials, checks, strict=False):
        energy = {
            name: replace(one, budget=replace(one.budget, **budget))
            for name, one in trial.computed_energies(found).items()
        }
        aside = found.record.but(
            exit="invalid",
            reason=f"rule {check.rule}: {check.detail}",
            checks=(check,),
            energy=energy,
            meters={
                name: replace(info, constant_error_j=fixed_j)
                for name, info in found.record.meters.items()
            },
            efficiency_meters=tuple(energy),
        )
        folder = begun.folder / "invalid" / f"{found.name}.1"
        shutil.move(found.folder, folder)
        trial.write_json(folder / "trial.json", aside.to_json())
        names.append(found.name)
    return names


def test_trials_that_are_too_short_are_told_with_the_length_that_would_do(
    begun: campaign.Campaign,
) -> None:
    """No machine is so calm that edges of 60 J are 2 % of 2500 J."""
    names = set_aside(begun, SHORT, SHORT, edges_j=30.0)
    error = refusal(begun, "2 trials", names, 5)
    assert "rule 16: 3 % of 2500 J" in error.what
    assert error.next_step == (  # 60 J / (2 % of 250 W - 0.6 W) = 13.6 s
        "set measure_s to 14 in profile test of studies/fast10-own.yaml "
        "(first: cp -n studies/fast10.yaml studies/fast10-own.yaml), then "
        "fsgreen measure fast10-own --profile test --name demo-2"
    )


def test_a_fixed_error_of_each_energy_matters_less_in_a_longer_trial(
    begun: campaign.Campaign,
) -> None:
    """A unit that counts watt-hours errs by one of them in each trial: no other meter is needed."""
    names = set_aside(begun, SHORT, constant_j=30.0, edges_j=0.0, fixed_j=27.0)
    told = str(refusal(begun, "1", names, 5).next_step)
    assert told.startswith("set measure_s to 13 in")  # 54 J / (2 % of 250 W - 0.6 W) = 12.3 s


def test_where_no_length_would_do_none_is_named(begun: campaign.Campaign) -> None:
    names = set_aside(begun, SHORT, constant_j=30.0)
    assert "a meter of a smaller constant error" in str(refusal(begun, "1", names, 5).next_step)


def test_of_several_rules_the_reasons_are_to_be_read(begun: campaign.Campaign) -> None:
    names = set_aside(begun, SHORT, Check(10, False, "others took 9 % of all cores"), edges_j=30.0)
    error = refusal(begun, "2 trials", names, 5)
    assert "fsgreen status demo" in str(error.next_step)
    assert "calm the machine" in str(error.next_step)
