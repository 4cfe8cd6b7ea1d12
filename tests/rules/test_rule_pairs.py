"""Each rule fires on data made for it, and is quiet on sound data."""

import pytest
import sound_campaign
from violations import FIRING, REPORTS

from fsgreen import rules
from fsgreen.analysis import scatter
from fsgreen.reduce import factors_of
from fsgreen.rules import comparison
from fsgreen.rules.trust import JUDGES, OF_REPORT


def test_every_rule_has_data_that_make_it_fire():
    """A new rule without such data could never be seen to work."""
    assert sorted({**FIRING, **REPORTS}) == list(rules.rules()) == list(range(1, 53))


@pytest.mark.parametrize("number", FIRING)
def test_it_is_quiet_on_sound_data(number, sound):
    answer = JUDGES[number](sound)
    assert answer.state == "quiet", answer.found


@pytest.mark.parametrize("number", FIRING)
def test_it_fires_on_data_made_for_it(number, sound):
    broken, words = FIRING[number]
    answer = JUDGES[number](broken(sound))
    assert answer.state == "fired"
    assert words in answer.found


@pytest.mark.parametrize("number", REPORTS)
def test_a_rule_on_the_report_has_both(number):
    report = sound_campaign.make_report()
    judged = OF_REPORT[number]
    assert judged(report).state == "quiet"
    broken, words = REPORTS[number]
    answer = judged(broken(report))
    assert answer.state == "fired"
    assert words in answer.found


def test_families_are_those_of_the_table_of_effects(sound):
    """Rule 38 would adjust again by another family than the one that was corrected."""
    shared = scatter.conditions(factors_of(sound.trials))
    assert comparison.families(sound.effects) == ["kind", "metric", *shared]
