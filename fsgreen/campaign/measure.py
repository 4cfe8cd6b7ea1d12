"""From the name of a study to measured trials: used by the command and by the notebook."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from pathlib import Path

from fsgreen import design, host, preflight, testbeds
from fsgreen.campaign.drive import run
from fsgreen.campaign.machine import machine_alone
from fsgreen.campaign.state import Campaign
from fsgreen.campaign.testbedfile import TestbedFile
from fsgreen.campaign.unwritten import write_out
from fsgreen.design.members import as_measured
from fsgreen.design.owncopy import file_of, file_to_change
from fsgreen.devices import image
from fsgreen.devices.names import APST, POWER_STATE
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
    """Measure the pending trials of a study; print the testbed and the preflight warnings.

    First, mounts and devices that a killed run left behind are removed, and what others left
    unwritten is written. Warnings of the preflight table are kept with the campaign. If the testbed
    has only one file system, only the cells on it are measured, and the plan says so.

    The campaign is called STUDY-PROFILE by default. If a study is given by its name, and the
    campaign is called FLEET.TESTBED, the order of trials is that of the testbed in the fleet.
    Without a `place`, the best testbed that works here is taken. `blocks` and `at_rest` are those
    of `drive.run`.

    Raises FsgreenError if something cannot be measured. If that is known beforehand, nothing has
    been formatted.
    """
    asked = design.load_study(study) if isinstance(study, str) else study
    campaign = Campaign(name or f"{asked.name}-{profile}")
    declared = as_measured(asked, campaign.name) if isinstance(study, str) else asked
    plan = design.make_plan(declared, profile)
    place = place or TestbedFile()
    _refuse_set_twice(place, plan)
    with campaign.alone():
        pass  # a second harness of the same campaign gets an error; it does not wait
    with ExitStack() as stack:
        stack.enter_context(machine_alone())
        for line in testbeds.sweep():
            print(f"left by a killed run: {line}")
        for waiting in host.pending():
            print(f"{waiting.sentence}: fsgreen host restore")
        rows: list[host.Row] = []
        if place.settings:
            rows = stack.enter_context(host.applied(place.settings, disks=place.disks))
            for row in rows:
                if row.changes:
                    print(f"{row.setting} {row.target}: {row.now} -> {row.wanted}")
        write_out()
        findings = look(place, plan)
        for finding in findings:
            if finding.severity in preflight.DISTURBING:
                mended = f" -> {finding.remedy}" if finding.remedy else ""
                print(f"preflight {finding.severity}: {finding.subject}: {finding.state}{mended}")
        before = host.before(rows)
        testbed = stack.enter_context(_open(kind_of_testbed(place, plan), place, plan, before))
        print(f"testbed {testbed.kind}: {testbed.describe()['why']}")
        only = testbed.only_file_system()
        if only is not None:
            plan = design.make_plan(declared, profile, only=only)
            print(f"this testbed has one file system: {plural(len(plan.cells), 'cell')} on {only}")
        more = design.most_ready(plan) - 1 if testbeds.find(testbed.kind).several else 0
        beside = [
            stack.enter_context(_open(testbed.kind, place, plan, before)) for _ in range(more)
        ]
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
    """Return the findings of the preflight table for a testbed and a plan.

    It takes a second or two, and changes nothing.
    """
    return preflight.check(
        folder=_images(place, kind_of_testbed(place, plan)),
        image_b=design.most_ready(plan) * plan.profile.image_b,
    )


def _refuse_set_twice(place: TestbedFile, plan: design.Plan) -> None:
    """Raise `FsgreenError` if [host] sets what cells set, as both are put back after a kill."""
    settings = {word.partition("=")[0] for word in place.settings}
    for setting, factor in (("power-state", POWER_STATE), ("apst", APST)):
        of_cells = any(plan.levels(cell).get(factor) is not None for cell in plan.cells)
        if setting in settings and of_cells:
            raise FsgreenError(
                f"{setting} is set for the whole campaign, and {factor} for each cell",
                where="apply in [host]",
                next_step=f"leave out {setting}, or {factor} in {file_to_change(plan.study)}",
            )


def _open(
    kind: str, place: TestbedFile, plan: design.Plan, before: Mapping[tuple[str, str], str]
) -> testbeds.Testbed:
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
        before=before,
    )


def _images(place: TestbedFile, kind: str) -> Path | None:
    """Return the folder of images; None if the choice of the best testbed decides."""
    if place.folder is not None:
        return place.folder
    if place.in_memory:
        return image.RAM
    return None if kind == "auto" else testbeds.default_folder(kind)


def kind_of_testbed(place: TestbedFile, plan: design.Plan) -> str:
    """Return the kind of testbed. `auto` becomes a simulated disk if the plan names a disk."""
    names_disk = any(plan.levels(cell)["disk"] is not None for cell in plan.cells)
    return "simdisk" if place.kind == "auto" and names_disk else place.kind


def disk_named(place: TestbedFile, plan: design.Plan) -> str | None:
    """Return the name of the disk to begin with.

    It is the disk of all cells. If cells have several, it is the one that the testbed file or the
    command line names, or else the first cell's, as the fastest known disk may be too fast for this
    machine.

    Raises FsgreenError if all cells have one disk and another one is asked for.
    """
    constant = plan.levels({})["disk"]
    if constant is not None and place.disk not in (None, constant):
        raise FsgreenError(
            f"all trials of this study are on the disk {constant}, not on {place.disk}",
            where=f"constants of {file_of(plan)}",
            next_step=f"leave out the disk {place.disk}, or name it in place of {constant} in "
            f"{file_to_change(plan.study)}",
        )
    return constant or place.disk or plan.levels(plan.cells[0])["disk"]
