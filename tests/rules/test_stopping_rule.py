"""Rule 27: what ended the cells is told, and held against what their trials say."""

from dataclasses import replace

from sound_campaign import answer, retabled, with_plan


def test_a_campaign_that_was_broken_off_is_not_said_to_have_ended(sound):
    """Rule 27: after three of its five blocks nothing has ended, however narrow it is."""
    three = retabled(sound, sound.trials[sound.trials["block"] <= 3])
    found = answer(27, with_plan(three, profile=replace(sound.plan.profile, blocks=5)))
    assert "so far 3 of 5 blocks are whole" in found.found


def test_what_ended_the_cells_is_told(sound):
    """Rule 27: by the target after five blocks, though there might have been ten."""
    profile = replace(sound.plan.profile, blocks=5, most_blocks=10)
    found = answer(27, with_plan(sound, profile=profile))
    assert found.state == "quiet"
    assert "ended by target: 3" in found.found


def test_a_campaign_that_ends_before_its_cells_do_has_whole_blocks(sound):
    """Rule 27 tells what was not reached; nothing is wrong with the order of what was (rule 3)."""
    five = retabled(sound, sound.trials[sound.trials["block"] <= 5])
    records = [record for record in sound.records if record.block <= 5]
    profile = replace(sound.plan.profile, blocks=5, most_blocks=10)
    bounds = {**sound.plan.bounds, "ci_half_width_percent": 1e-6}
    ended = with_plan(replace(five, records=records), profile=profile, bounds=bounds)
    assert answer(3, ended).state == "quiet"
    found = answer(27, ended)
    assert found.state == "fired"
    assert "ended by still open: 3, after 5 of up to 10 blocks" in found.found
    begun = replace(ended, records=[*records, sound.records[-1]])
    assert "missing" in answer(3, begun).found


def test_a_record_of_stopping_that_its_trials_deny_fires(sound):
    found = answer(27, replace(sound, stopping=stopping_of(sound, 0)))
    assert "not what their trials say" in found.found
    assert found.state == "fired"


def test_a_record_of_stopping_before_the_last_trials_is_no_answer(sound):
    """A campaign that was broken off would be told that its trials had been tampered with."""
    found = answer(27, replace(sound, stopping=stopping_of(sound, 1)))
    assert found.state == "unknown"
    assert "older than the trials" in found.found


def stopping_of(sound, missing_count):
    """A record that lacks so many trials of each cell and ends each with the last block."""
    counts = {cell: len(sound.trials) // len(sound.plan.cells) for cell in sound.plan.cells}
    return {
        "cells": [
            {"cell": cell.label, "n": n - missing_count, "ended": "maximum"}
            for cell, n in counts.items()
        ]
    }
