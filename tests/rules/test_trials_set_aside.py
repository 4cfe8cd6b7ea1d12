"""Trials that do not count: a reader learns which, and why."""

from dataclasses import replace

from sound_campaign import answer
from synthetic import edited


def test_the_rules_name_a_trial_that_was_set_aside_and_say_why(sound):
    """They had a number alone: "1 disturbed trial set aside"."""
    name = sound.invalid[0].trial
    told = f"; 1 trial set aside: {name} (rule 10: others took 9 %)"
    for rule in (10, 32):
        assert told in answer(rule, sound).found
    assert "set aside" not in answer(13, sound).found


def test_a_rule_on_traces_names_those_that_broke_it_alone(sound):
    gap = replace(sound, invalid=[edited(sound.invalid[0], reason="rule 13: a gap of 3 s")])
    assert "(rule 13: a gap of 3 s)" in answer(13, gap).found
    for rule in (10, 14):
        assert "set aside" not in answer(rule, gap).found


def test_what_somebody_set_aside_after_a_look_is_named(sound):
    one = sound.records[0]
    found = answer(48, replace(sound, discarded=[one])).found
    assert f"kept: 1 trial: {one.trial}" in found
