"""The rules of one order and one machine, where testbeds shared the blocks of a campaign."""

from dataclasses import replace

import pytest
from sound_campaign import AUDIT, answer, at_the_wall
from synthetic import edited

RULES = (3, 9, 21)
"""That blocks are not mixed in time, that machines and that meters are the same."""


def shared(sound):
    """Two testbeds measure every other block at the same time; each has a disk and a meter."""
    records, audits = [], {}
    for record in sound.records:
        testbed = record.block % 2
        disks = {"sda": {"model": "A", "serial": f"S{testbed}"}}
        audited = {**AUDIT, "disks": disks}
        audits[record.trial] = {"start": audited, "end": audited}
        begun_s = 60.0 * record.block + 30.0 * record.order
        records.append(
            edited(
                record,
                campaign=f"sound.{testbed}",
                clock={"monotonic_s": begun_s, "unix_s": 1.8e9 + begun_s},
                meters={
                    name: {**meter, "serial": f"{name}{testbed}"}
                    for name, meter in at_the_wall().items()
                },
            )
        )
    first = {**AUDIT, "disks": {"sda": {"model": "A", "serial": "S0"}}}
    meters = {name: {**meter, "serial": f"{name}0"} for name, meter in at_the_wall().items()}
    identity = {**sound.identity, "audit": first, "meters": meters, "testbeds": ["sound.0"]}
    return replace(sound, records=records, audits=audits, identity=identity)


@pytest.mark.parametrize("rule", RULES)
def test_testbeds_of_one_kind_side_by_side_break_no_rule(sound, rule):
    """Every shared campaign would be reported as one that nobody should believe."""
    assert answer(rule, shared(sound)).state == "quiet"


@pytest.mark.parametrize("rule", (9, 21))
def test_without_a_word_that_blocks_were_shared_they_do(sound, rule):
    found = shared(sound)
    identity = {key: value for key, value in found.identity.items() if key != "testbeds"}
    assert answer(rule, replace(found, identity=identity)).state == "fired"


def test_a_meter_that_was_exchanged_on_one_testbed_is_found(sound):
    found = shared(sound)
    [*records, last] = found.records
    meters = {name: {**meter, "serial": "another"} for name, meter in at_the_wall().items()}
    changed = replace(found, records=[*records, edited(last, meters=meters)])
    assert answer(21, changed).state == "fired"


def test_a_kernel_that_differs_between_testbeds_is_found(sound):
    found = shared(sound)
    trial = found.records[-1].trial
    other = {end: {**audited, "kernel": "7"} for end, audited in found.audits[trial].items()}
    for name in [record.trial for record in found.records if record.block % 2]:
        found.audits[name].update(other)
    assert answer(9, found).state == "fired"


def test_trials_out_of_their_order_on_one_testbed_are_found(sound):
    found = shared(sound)
    first, second, *others = found.records
    swapped = [first.but(clock=second.clock), second.but(clock=first.clock), *others]
    assert answer(3, replace(found, records=swapped)).state == "fired"


def test_several_testbeds_are_not_called_one_device(sound):
    """What lies between blocks would be said of one machine."""
    assert "2 testbeds, each block on one of them" in answer(5, shared(sound)).found


def test_a_block_is_not_late_where_another_testbed_was_faster(sound):
    """It would read as if trials had been measured anew until they came out well."""
    found = shared(sound)
    records = [
        edited(record, clock={"monotonic_s": 0.0, "unix_s": record.clock.unix_s + 1e4})
        if record.block % 2
        else record
        for record in found.records
    ]
    assert answer(48, replace(found, records=records)).state == "quiet"
    one_testbed = [edited(record, campaign="sound") for record in records]
    assert answer(48, replace(found, records=one_testbed)).state == "fired"


def test_each_testbed_is_held_to_the_first_speed_of_its_own(sound):
    """One that is 4 % slower is equal, and 4 % less than that is within the bound of 5 %."""
    found = shared(sound)
    for name in [record.trial for record in found.records if record.block % 2]:
        slower = {**found.audits[name]["start"], "speed_loops_s": 0.92e7}
        found.audits[name].update(start=slower, end=slower)
    firsts = {"sound.0": 1e7, "sound.1": 0.96e7}
    held = replace(found, identity={**found.identity, "speeds_loops_s": firsts})
    assert answer(9, held).state == "quiet"
    assert answer(9, found).state == "fired"


def begun_anew(found):
    """The first block as another testbed began it anew behind its own; one trial is kept of it."""
    testbed = found.records[-1].campaign
    others = [record for record in found.records if record.block > 1]
    last_s = max(record.clock.unix_s for record in others)
    first = [record for record in found.records if record.block == 1]
    again = [
        edited(
            record,
            campaign=testbed,
            clock={"monotonic_s": 0.0, "unix_s": last_s + 30.0 * (1 + record.order)},
        )
        for record in first
    ]
    blocks = {}
    for record in [*others, *again]:
        blocks.setdefault(record.campaign, {})[record.block] = True
    identity = {**found.identity, "blocks": {name: [*each] for name, each in blocks.items()}}
    lost = edited(first[0], campaign="sound.lost")
    return replace(found, records=[*again, *others], superseded=[lost], identity=identity)


@pytest.mark.parametrize("rule", (32, 48))
def test_a_block_that_was_lost_with_its_testbed_was_not_chosen_after_a_look(sound, rule):
    """Whoever's machine restarts in the night would be told that the comparisons are not sound."""
    found = begun_anew(shared(sound))
    told = answer(rule, found)
    assert told.state == "quiet"
    assert "1 trial kept of blocks that another testbed then began anew" in told.found
    by_number = {key: value for key, value in found.identity.items() if key != "blocks"}
    assert answer(rule, replace(found, identity=by_number)).state == "fired"


def test_a_block_that_was_measured_late_on_its_own_testbed_is_found(sound):
    found = begun_anew(shared(sound))
    blocks = {name: sorted(each) for name, each in found.identity["blocks"].items()}
    late = replace(found, identity={**found.identity, "blocks": blocks})
    assert answer(48, late).state == "fired"
