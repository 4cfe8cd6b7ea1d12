"""Claims of nfstricks03 that rest on how a disk or its time was modelled: what is no evidence."""

from dataclasses import replace

import pandas as pd
import pytest
import synthetic_readers
from readers import DISK, judged, ledger_of, parts_of, slower, source, verdicts

from fsgreen.analysis.claims.ledger import VIRTUAL
from fsgreen.claims import SIZE_EXCLUDED, SIZE_OPEN, combine, missing
from fsgreen.papers.nfstricks03.claims import CHECKS
from fsgreen.papers.nfstricks03.sources import Zones


@pytest.fixture(scope="module")
def runs():
    """Readers that behave as nfstricks03 has it."""
    return synthetic_readers.runs()


def test_what_the_model_was_made_to_do_is_not_called_reproduced(runs):
    """The queue of the SCSI disk was assumed so that tags are slower and fair."""
    found = verdicts(runs)
    for slug in (
        *("nfs_bench_volume", "nfs_metric", "zcav_read_time", "zcav_order"),
        *("tcq_off_faster", "tcq_on_shape", "tcq_on_15"),
    ):
        assert found[slug] == "by construction", slug
    # That it does not is evidence all the same.
    again = slower(runs, 3.0, queue_depth=1)
    assert verdicts(again, "tcq_off_faster")["tcq_off_faster"] == "reversed"


def test_a_number_that_the_model_was_fitted_to_decides_nothing(runs):
    """The media rate of the IDE disk was chosen by the time of the last reader."""
    *first, last = parts_of(runs, "elev_ide1_times")
    assert last.verdict == "by construction"
    assert "by construction" not in {part.verdict for part in first}
    free, *fitted = [part.verdict for part in parts_of(runs, "tcq_off_27")][-4:]
    assert free == "reproduced"
    assert set(fitted) == {"by construction"}
    assert combine(parts_of(runs, "tcq_off_27")) == ("reproduced", False)


def test_a_pair_that_the_model_cannot_tell_apart_is_never_the_worst(runs):
    """One reader leaves a queue nothing to order: tags or none, it is the same to the bit."""
    virtual = replace(runs, clock="virtual time")
    alone = virtual.trials["readers"].eq(1) & virtual.trials["disk"].eq("ddys-t36950n")
    same = virtual.trials.assign(
        duration_s=virtual.trials["duration_s"].mask(alone, 8.0),
        bandwidth_b_s=virtual.trials["bandwidth_b_s"].mask(alone, 2**25),
    )
    slow = slower(replace(virtual, trials=same), 1.5, readers=32, queue_depth=1)
    (part,) = judged(slow, "tcq_off_shape", testbed=VIRTUAL)["tcq_off_shape"]
    assert (part.verdict, part.detail) == ("not testable here", "32 readers, the worst of 6")


WAITS = pd.DataFrame(
    [("wd200bb", "elevator", 2, block, 0.01, 230.0 + block, 231.0, None) for block in range(1, 6)]
    + [
        ("wd200bb", "n-cscan", readers, block, 0.004 * readers + block / 1e6, 1.0, None, readers)
        for readers in (1, 2, 4, 8)
        for block in range(1, 6)
    ],
    columns=[
        *("disk", "scheduler", "readers", "block", "response_s", "longest_s", "scan_s"),
        "queue_requests_count",
    ],
)


@pytest.mark.parametrize(
    ("slug", "column", "factor", "verdict"),
    [
        ("elev_starvation", "longest_s", 1.0, "by construction"),
        ("elev_starvation", "longest_s", 0.1, "not reproduced"),
        ("elev_minutes", "longest_s", 1.0, "by construction"),
        ("elev_minutes", "longest_s", 0.1, "not reproduced"),
        ("ncscan_latency_model", "longest_s", 1.0, "reproduced"),
    ],
)
def test_what_a_request_waits_for_is_judged(runs, slug, column, factor, verdict):
    """A reader that is starved for minutes, and sweeps that take as long as they are full.

    The model of the elevator was made to starve: that it does is no evidence.
    """
    waits = WAITS.assign(**{column: WAITS[column] * factor})
    virtual = replace(runs, clock="virtual time")
    parts = ledger_of({VIRTUAL: source(virtual, waits=waits)}, slug)[slug]
    assert combine(parts) == (verdict, verdict != "by construction")
    built = verdict == "by construction"
    assert {part.basis for part in parts} == {"by construction" if built else "simulated"}


def test_waits_that_do_not_grow_with_the_queue_are_not_proportional(runs):
    flat = source(runs, waits=WAITS.assign(response_s=0.004 + WAITS["block"] / 1e6))
    (part,) = CHECKS["sweep_latency"](flat, [])
    assert part.verdict == "not reproduced"


def test_the_file_of_a_disk_decides_on_its_zones(runs):
    """Nothing runs, so that agreement is by construction; that a disk has no zones is a finding."""
    both = ("wd200bb", "ddys-t36950n")
    found = verdicts(runs, zones=dict.fromkeys(both, Zones.of_file(DISK)))
    for slug in ("zcav_sector_ratio", "zcav_control"):
        assert found[slug] == "by construction", slug
    assert found["zcav_factor_two"] == SIZE_EXCLUDED, "of a disk with a factor of one and a half"
    twice = verdicts(runs, zones=dict.fromkeys(both, Zones.of_file(DISK.replace("580", "460"))))
    assert twice["zcav_factor_two"] == "by construction"
    flat = verdicts(runs, zones=dict.fromkeys(both, Zones.of_file(DISK.replace("580", "900"))))
    assert flat["zcav_sector_ratio"] == flat["zcav_factor_two"] == "not reproduced"
    assert "comes with runs in virtual time" in parts_of(runs, "zcav_factor_two")[0].needs


def test_a_quarter_of_a_disk_has_the_zones_that_it_lies_in():
    """Three zones, the first two thirds of the sectors."""
    zones = Zones(((0.0, 0.4, 900), (0.4, 0.8, 700), (0.8, 1.0, 450)))
    assert zones.ratio_x == 2
    assert zones.within(0, 0.25).ratio_x == 1
    assert zones.within(0.3, 0.5).ratio_x == pytest.approx(9 / 7)


def test_what_hangs_on_an_assumed_speed_of_readers_is_not_decided_by_it(runs):
    """The jump is there in real time, and one reader later in virtual time: "reversed", it said."""
    virtual = replace(runs, clock="virtual time")
    for of, testbed, tested in ((virtual, VIRTUAL, False), (runs, "simdisk", True)):
        parts = judged(of, "ncscan_jump", testbed=testbed)["ncscan_jump"]
        assert [part.tested for part in parts] == [tested] * 2


def test_virtual_time_decides_a_direction_and_no_size(runs):
    """The two clocks differed by up to ten times, and virtual intervals held the start alone."""
    virtual = replace(runs, clock="virtual time")
    slugs = ("zcav_obscures", "ncscan_throughput", "elev_ratio", "tcq_off_27", "tcq_on_15")
    found = {
        slug: {part.verdict for part in parts}
        for slug, parts in judged(virtual, *slugs, testbed=VIRTUAL).items()
    }
    assert found["zcav_obscures"] == found["ncscan_throughput"] == {SIZE_OPEN}
    assert found["elev_ratio"] == {"not testable here"}
    assert found["tcq_off_27"] == {"not testable here", "by construction"}
    assert found["tcq_on_15"] == {"by construction"}
    again = slower(virtual, 1.3, queue_depth=64)
    parts = judged(again, "tcq_on_15", testbed=VIRTUAL)["tcq_on_15"]
    assert {part.verdict for part in parts} == {"not testable here"}
    assert "real time" in missing(parts)
    back = slower(virtual, 3.0, partition=1)
    assert verdicts(back, "zcav_obscures", testbed=VIRTUAL) == {"zcav_obscures": "reversed"}
