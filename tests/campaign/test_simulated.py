"""A campaign on a simulated disk: two cells from mkfs to the record, and disks that are late."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from fsgreen import campaign, design, testbeds, trial
from fsgreen.campaign import checks, simulated, testbedfile
from fsgreen.campaign.measure import disk_named, kind_of_testbed
from fsgreen.design import Cell
from fsgreen.errors import FsgreenError
from fsgreen.meters import HostSampler, simdisk
from fsgreen.simdisk import Disk
from tests.testbeds.served import needs_disk

SIZE_B = 128 << 20
RAIL = {
    "name": "rail",
    "driver": "blocks",
    "emulate": True,
    "profile": "simdisk",
    "covers": ["rail"],
}
SLOW = {**simdisk.DISK, "rate_hz": 4}
"""At 20 readings a second a machine that stands still for a moment spoils a trial."""
READERS = "sequential-readers"


def timing(requests: int, on_time: int, in_floor: int = 0) -> dict[str, float]:
    return {"requests": requests, "on_time": on_time, "in_floor": in_floor}


@pytest.mark.parametrize(("on_time", "ok"), [(100, True), (95, True), (94, False), (0, False)])
def test_rule_10_fires_when_the_simulated_disk_was_late(on_time: int, ok: bool) -> None:
    found = checks.check_timing(timing(100, on_time))
    assert (found.rule, found.ok) == (10, ok)
    assert f"{on_time}.0 % of 100 requests" in found.detail


def test_a_study_of_simulated_disks_gets_one_unless_another_place_is_asked_for() -> None:
    """Its first command would fail on the loop device for want of a scheduler."""
    plan = design.make_plan(design.load_study("nfstricks03"), "quick")
    assert kind_of_testbed(testbedfile.TestbedFile(), plan) == "simdisk"
    assert kind_of_testbed(testbedfile.TestbedFile(kind="loop"), plan) == "loop"
    of_file_systems = design.make_plan(design.load_study("fast10"), "quick")
    assert kind_of_testbed(testbedfile.TestbedFile(), of_file_systems) == "auto"


def test_a_campaign_begins_on_the_disk_that_all_its_cells_have() -> None:
    """Else idle power and the probes of confounds were those of a disk that no trial is on."""
    plan = design.make_plan(design.load_study("sun14"), "quick")
    assert kind_of_testbed(testbedfile.TestbedFile(), plan) == "simdisk"
    assert disk_named(testbedfile.TestbedFile(kind="simdisk"), plan) == "x25-m-g2-slowed"
    with pytest.raises(FsgreenError, match="x25-m-g2-slowed, not on st4000nm0033") as caught:
        disk_named(testbedfile.TestbedFile(kind="simdisk", disk="st4000nm0033"), plan)
    assert "in studies/sun14-own.yaml (first: cp -n" in (caught.value.next_step or "")


def test_a_campaign_whose_cells_have_several_disks_begins_on_the_first() -> None:
    """The default disk is faster than some machines can serve, and no trial may be on it."""
    plan = design.make_plan(design.load_study("nfstricks03"), "quick")
    assert disk_named(testbedfile.TestbedFile(kind="simdisk"), plan) == plan.cells[0]["disk"]
    asked = testbedfile.TestbedFile(kind="simdisk", disk="ddys-t36950n")
    assert disk_named(asked, plan) == "ddys-t36950n"
    of_file_systems = design.make_plan(design.load_study("fast10"), "quick")
    assert disk_named(testbedfile.TestbedFile(), of_file_systems) is None


def test_what_no_machine_could_answer_sooner_is_not_late() -> None:
    """2 % of an answer out of the disk's cache are less than a microsecond or two can tell."""
    assert checks.check_timing(timing(100, 70, 25)).ok
    assert not checks.check_timing(timing(100, 70, 24)).ok


def test_a_flash_that_was_late_is_told_of_beside_its_disk() -> None:
    """The disk of GreenFS sleeps: nothing else would show that flash was as fast as memory."""
    seen = {"timing": timing(0, 0), "flash": {"timing": timing(100, 90)}}
    disk, flash = (checks.check_timing(*found) for found in simulated.timings(seen))
    assert disk.ok and not flash.ok
    assert "of the simulated flash" in flash.detail
    assert [*simulated.timings({})] == []


def test_each_server_is_counted_from_when_it_is_first_asked_for() -> None:
    """What a flash took in trials before would be taken out of this one's work of others."""
    servers: dict[str, Any] = {"disk": lambda: (1.0, 2.0)}
    bed = SimpleNamespace(
        simulators=lambda: {
            role: SimpleNamespace(processor_s=told) for role, told in servers.items()
        }
    )
    sampled = simulated.Servers(cast("testbeds.Testbed", bed))
    assert sampled.processor_s() == (0.0, 0.0)
    servers |= {"disk": lambda: (1.5, 2.0), "flash": lambda: (100.0, 200.0)}
    assert sampled.processor_s() == (0.5, 0.0)
    servers["flash"] = lambda: (100.0, 201.0)
    assert sampled.processor_s() == (0.5, 1.0)


def test_an_ssd_counts_beside_a_kernel_or_qemu_and_never_stops_the_sampling() -> None:
    """Its server is silent while it starts; a trial must not end for that."""

    def silent(do: str, **_: Any) -> dict[str, Any]:
        raise FsgreenError("the simulated disk does not answer")

    def told(do: str, **_: Any) -> dict[str, Any]:
        return {"counters": {"host_written_b": 4096, "flash_programmed_b": 8192, "else": 1}}

    for ask, written_b in ((told, 4096.0), (silent, math.nan)):
        control = SimpleNamespace(ask=ask)
        bed: Any = SimpleNamespace(
            counters=lambda: {"disk_write_b": 5.0}, simulator=lambda control=control: control
        )
        row = HostSampler(lambda: None, None, partial(simulated.counters, bed)).sample()
        assert row["disk_write_b"] == 5
        assert row["host_written_b"] == pytest.approx(written_b, nan_ok=True)
    bed = SimpleNamespace(counters=lambda: None, simulator=lambda: None)
    assert simulated.counters(bed) == {}


def test_a_disk_without_requests_was_not_late() -> None:
    assert checks.check_timing(timing(0, 0)).ok


@pytest.fixture
def plan() -> design.Plan:
    """Two cells that differ in the disk, its part, its queue and the readers."""
    study = design.load_study("nfstricks03")
    cells = (
        Cell(
            workload="sequential-readers",
            file_system="ext2",
            readers=1,
            disk="wd200bb",
            partition=1,
            queue_depth=1,
        ),
        Cell(
            workload="sequential-readers",
            file_system="ext2",
            readers=2,
            disk="ddys-t36950n",
            partition=4,
            queue_depth=64,
        ),
    )
    quick = replace(
        study.profiles["quick"],
        matrices=("two",),
        blocks=1,
        scale={READERS: 1 / 4},
        image_b=SIZE_B,
    )
    calm = {
        **study.bounds,
        "others_percent": 101,
        "idle_band_percent": 50,
        "budget_percent": 50,  # of seconds, whose edges fall between two readings
    }
    small = replace(
        study,
        baseline=cells[0],
        bounds=calm,
        constants={**study.constants, "scheduler": "none"},
        matrices={"two": cells},
        profiles={"quick": quick},
    )
    return design.make_plan(small, "quick")


@needs_disk
@pytest.mark.usefixtures("patient", "on_any_disk", "unprobed", "caches_dropped")
def test_two_cells_are_measured_each_on_its_disk_and_account_for_its_energy(
    data: Path, plan: design.Plan
) -> None:
    with testbeds.open_testbed("simdisk", size_b=SIZE_B, disk=Disk("wd200bb")) as bed:
        done = campaign.run(plan, "demo", testbed=bed, meters=[SLOW, RAIL])
    found = {one.record.cell["disk"]: one for one in trial.list_trials(done.folder)}
    assert found.keys() == {"wd200bb", "ddys-t36950n"}
    assert done.identity()["idle_bands_w"].keys() == found.keys()
    for disk, one in found.items():
        one.verify()
        record = one.record
        assert record.boundary == "modelled"
        assert record.work.finished is True
        assert record.work.read_b == 64 << 20
        assert record.mount["simulated"]["disk"] == disk
        assert record.mount["queue_depth"] == record.cell["queue_depth"]
        seen = record.simulated
        assert seen["timing"]["requests"] > 0
        assert seen["server_user_s"] + seen["server_system_s"] > 0
        parts_j = seen["parts_j"]["disk"]
        measure = one.phase("measure")
        mean_w = sum(parts_j.values()) / measure.duration_s
        assert parts_j["transfer"] > 0
        power = one.table("power")
        within = power[power["time_s"].between(measure.start_s, measure.end_s)]
        assert within["power_w"].min() <= mean_w <= power["power_w"].max()
        rail, account = (within[within["meter"] == name] for name in ("rail", "disk"))
        assert set(rail["quality"]) == {"ok"}
        assert len(rail) == pytest.approx(10_000 * measure.duration_s, rel=0.01)
        # Each reading of the account has the mean power since the one before.
        begin_s, *_, end_s = read_s = account["time_s"].tolist()
        account_w = np.average(account["power_w"].iloc[1:], weights=np.diff(read_s))
        beside_w = rail.loc[rail["time_s"].between(begin_s, end_s), "power_w"].mean()
        assert beside_w == pytest.approx(account_w, rel=0.02)
        span = trial.Phase("account", begin_s, end_s)
        [exact_j] = simulated.parts_j(one.folder / "power.raw", span).values()
        assert sum(exact_j.values()) == pytest.approx(account_w * span.duration_s)
        assert {check.rule for check in record.checks} >= {7, 8, 9, 10, 11, 13, 16, 20, 40}
