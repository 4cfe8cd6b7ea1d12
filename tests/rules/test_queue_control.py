"""Rule 40: the scheduler is the declared one; only a queue of 1 shows what the queue does."""

import itertools
from dataclasses import replace

import sound_campaign
from sound_campaign import answer, with_plan, with_record


def test_another_scheduler_than_declared_fires(sound):
    mount = {**sound_campaign.MOUNT, "scheduler": "bfq"}
    assert "another scheduler" in answer(40, with_record(sound, mount=mount)).found


def test_a_cell_without_a_scheduler_has_none_where_it_is_a_factor(sound):
    """Every trial of NOOP was said to have another scheduler than declared."""
    constants = {k: v for k, v in sound.plan.constants.items() if k != "scheduler"}
    mount = {**sound_campaign.MOUNT, "scheduler": "none"}
    varied = with_record(with_plan(sound, constants=constants), mount=mount)
    assert "another scheduler" not in answer(40, varied).found


def test_another_scheduler_is_no_queue_that_is_off(sound):
    """The disk goes on reordering below any scheduler."""
    mounts = [
        {**sound_campaign.MOUNT, "queue_depth": 128, "scheduler": name} for name in ("none", "bfq")
    ]
    found = answer(40, queued(sound, *mounts))
    assert found.state == "fired"
    assert "only the scheduler was varied: no control with the queue off" in found.found


def test_a_queue_that_was_off_in_some_trials_is_the_control(sound):
    mounts = [{**sound_campaign.MOUNT, "queue_depth": depth} for depth in (1, 64)]
    assert answer(40, queued(sound, *mounts)).state == "quiet"


def test_the_queue_of_another_disk_is_no_control(sound):
    """That one disk has no queue tells nothing of the reordering of the other."""
    mounts = [{**sound_campaign.MOUNT, "queue_depth": depth} for depth in (1, 64)]
    two = queued(sound, *mounts)
    records = [
        record.but(cell={**record.cell, "disk": f"disk{record.mount['queue_depth']}"})
        for record in two.records
    ]
    found = answer(40, replace(two, records=records))
    assert found.state == "fired"
    assert "no control with the queue off on disk64" in found.found


def test_one_reader_with_the_queue_off_is_no_control_for_many(sound):
    """The queue has nothing to reorder for a single reader."""
    mounts = [{**sound_campaign.MOUNT, "queue_depth": depth} for depth in (1, 64)]
    two = queued(sound, *mounts)
    alone = [
        r.but(workload=replace(r.work, variables={"nthreads": 1}))
        if r.mount["queue_depth"] == 1
        else r
        for r in two.records
    ]
    assert answer(40, replace(two, records=alone)).state == "fired"


def queued(sound, *mounts):
    """The campaign with trial after trial on the next of these mounts, as declared."""
    records = [
        record.but(mount=mount, cell={**record.cell, "scheduler": mount["scheduler"]})
        for record, mount in zip(sound.records, itertools.cycle(mounts), strict=False)
    ]
    return replace(sound, records=records)
