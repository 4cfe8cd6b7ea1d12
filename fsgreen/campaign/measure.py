"""From the name of a study to measured trials: what the command and the notebook both do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path

from fsgreen import design, host, preflight, testbeds
from fsgreen.campaign.drive import run
from fsgreen.campaign.machine import machine_alone
from fsgreen.campaign.state import Campaign
from fsgreen.campaign.testbedfile import TestbedFile
from fsgreen.campaign.unwritten import write_out
from fsgreen.design.members import as_measured
from fsgreen.devices import image
from fsgreen.errors import FsgreenError
from fsgreen.words import plural


def measure(
    study: str | design.Study,
    profile: str,
    *,
    name: str | None = None,
    place: TestbedFile | None = None,
    blocks: Collection[int] | None = None,
    at_rest: Callable[[], object] | None = None,
) -> Campaign:
    """Measure the pending trials of a study and print where and on what.

    What a killed run left mounted or attached is removed first, and what others left unwritten is
    written. What the preflight table warns of is printed, and kept with the campaign. On a testbed
    with one file system only its cells are measured, and the plan says so.

    Parameters
    ----------
    study : str or Study
        What is measured, by its name or as a caller made it of what that declares. By its name, a
        campaign FLEET.TESTBED has the order that the testbed has in the fleet.
    profile : str
        How much of it.
    name : str, optional
        The campaign's name; STUDY-PROFILE by default.
    place : TestbedFile, optional
        Where, and with which meters; the best testbed that works here by default.
    blocks : collection of int, optional
        Those of the plan that are measured here, all by default; `at_rest` may change which.
    at_rest : callable, optional
        Called between trials, while nothing is measured: the next begins when it returns.

    Raises
    ------
    FsgreenError
        For anything that cannot be measured; before anything is formatted where that is known.
    """
    asked = design.load_study(study) if isinstance(study, str) else study
    campaign = Campaign(name or f"{asked.name}-{profile}")
    declared = as_measured(asked, campaign.name) if isinstance(study, str) else asked
    plan = design.make_plan(declared, profile)
    place = place or TestbedFile()
    with campaign.alone():
        pass  # a second harness is told of the first; it does not wait for it
    with ExitStack() as stack:
        stack.enter_context(machine_alone())
        for line in testbeds.sweep():
            print(f"left by a killed run: {line}")
        for waiting in host.pending():
            print(f"{waiting.sentence}: fsgreen host restore")
        if place.settings:
            for row in stack.enter_context(host.applied(place.settings, disks=place.disks)):
                if row.changes:
                    print(f"{row.setting} {row.target}: {row.now} -> {row.wanted}")
        write_out()
        findings = look(place, plan)
        for finding in findings:
            if finding.severity in preflight.DISTURBING:
                mended = f" -> {finding.remedy}" if finding.remedy else ""
                print(f"preflight {finding.severity}: {finding.subject}: {finding.state}{mended}")
        testbed = stack.enter_context(_open(kind_of_testbed(place, plan), place, plan))
        print(f"testbed {testbed.kind}: {testbed.describe()['why']}")
        only = testbed.only_file_system()
        if only is not None:
            plan = design.make_plan(declared, profile, only=only)
            print(f"this testbed has one file system: {plural(len(plan.cells), 'cell')} on {only}")
        more = design.most_ready(plan) - 1 if testbeds.find(testbed.kind).several else 0
        beside = [stack.enter_context(_open(testbed.kind, place, plan)) for _ in range(more)]
        return run(
            plan,
            campaign.name,
            testbed=testbed,
            beside=beside,
            meters=place.meters,
            pulses=place.pulses,
            preflight=findings,
            blocks=blocks,
            at_rest=at_rest,
        )


def look(place: TestbedFile, plan: design.Plan) -> list[preflight.Finding]:
    """Return what the preflight table finds where a plan is to be measured; takes a second or two.

    It changes nothing.
    """
    return preflight.check(
        folder=_images(place, kind_of_testbed(place, plan)),
        image_b=design.most_ready(plan) * plan.profile.image_b,
    )


def _open(kind: str, place: TestbedFile, plan: design.Plan) -> testbeds.Testbed:
    return testbeds.open_testbed(
        kind,
        folder=place.folder,
        in_memory=place.in_memory,
        size_b=plan.profile.image_b,
        scheduler=plan.levels({})["scheduler"],
        disk=place.simulated(disk_named(place, plan)),
        queue_depth=place.queue_depth,
        partition=place.partition,
        listed=place.listed(),
        guest=place.guest(),
    )


def _images(place: TestbedFile, kind: str) -> Path | None:
    """Return where images go; None where that is the choice of the best testbed."""
    if place.folder is not None:
        return place.folder
    if place.in_memory:
        return image.RAM
    return None if kind == "auto" else testbeds.default_folder(kind)


def kind_of_testbed(place: TestbedFile, plan: design.Plan) -> str:
    """Return the kind of testbed: `auto` is a simulated disk where the plan names one."""
    names_disk = any(plan.levels(cell)["disk"] is not None for cell in plan.cells)
    return "simdisk" if place.kind == "auto" and names_disk else place.kind


def disk_named(place: TestbedFile, plan: design.Plan) -> str | None:
    """Return the disk to begin with, on which idle power and probes are: that of the cells.

    Where they have several, it is the one asked for, or the first cell's: the fastest disk that is
    known may be too fast for this machine.

    Raises
    ------
    FsgreenError
        If another is asked for than all cells of the study have.
    """
    constant = plan.levels({})["disk"]
    if constant is not None and place.disk not in (None, constant):
        raise FsgreenError(
            f"all trials of this study are on the disk {constant}, not on {place.disk}",
            where=f"constants of studies/{plan.study}.yaml",
            next_step=f"leave out the disk {place.disk}, or name it there in place of {constant}",
        )
    return constant or place.disk or plan.levels(plan.cells[0])["disk"]
