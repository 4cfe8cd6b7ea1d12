"""The study of docs/vm.md on a zoned disk can be planned, and its cells work in a guest."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from vms import EMULATED, need_guest, nightly

from fsgreen import design, paths
from fsgreen.campaign import testbedfile
from fsgreen.devices.vm.drive import LEAST_ZONES
from fsgreen.stacks import filesystems
from fsgreen.testbeds import open_testbed
from fsgreen.workloads import load_workload

STUDY = r"yaml\n(study: (mine-zones)\n.*?)"
TESTBED = r'toml\n(\[testbed\]\nkind = "vm"\ndrive = "null"\n.*?)'


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, testbedfile.TestbedFile]:
    """The study by its name, and the testbed, both copied from the page."""
    page = (paths.code() / "docs" / "vm.md").read_text()
    [(text, name)] = re.findall(f"```{STUDY}```", page, re.DOTALL)
    [testbed] = re.findall(f"```{TESTBED}```", page, re.DOTALL)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "zones.toml").write_text(testbed)
    return name, testbedfile.read(str(tmp_path / "zones.toml"))


def test_the_study_of_the_page_can_be_planned_for_the_disk_of_the_page(
    study: tuple[str, testbedfile.TestbedFile],
) -> None:
    """A cell that zones refuse would end the campaign before its first trial."""
    name, place = study
    plan = design.make_plan(design.load_study(name), "quick")
    assert place.drive == "null" and place.drive_zone_mib is not None
    zone_b = place.drive_zone_mib << 20
    assert plan.profile.image_b % zone_b == 0 and plan.profile.image_b // zone_b >= LEAST_ZONES
    zones = {"zone_b": zone_b, "conventional_zones_count": 4}
    asked = [plan.levels(cell) for cell in plan.cells]
    for levels in asked:
        filesystems.check_zoned(filesystems.recipe(levels["file_system"], levels["option"]), zones)
        assert levels["scheduler"] == "mq-deadline", "the guest refuses every other"
    assert {levels["file_system"] for levels in asked} == {"btrfs", "f2fs"}


@nightly
def test_every_cell_of_the_page_works_on_its_disk(
    study: tuple[str, testbedfile.TestbedFile],
) -> None:
    need_guest()
    name, place = study
    plan = design.make_plan(design.load_study(name), "quick")
    guest = place.guest()
    assert guest is not None
    emulated = replace(guest, clock=EMULATED.clock)
    with open_testbed("vm", in_memory=True, size_b=plan.profile.image_b, guest=emulated) as bed:
        for cell in plan.cells:
            levels = plan.levels(cell)
            bed.check(levels)
            mount = bed.prepare(levels)
            assert mount.geometry["zone_b"] == guest.drive_zone_mib << 20
            workload = load_workload(cell["workload"], 0.002)
            with bed.entered():
                workload.prepare(mount.directory, 1)
                outcome = workload.run(mount.directory, 1, 0.0, 0.5)
            assert outcome.summary.work_ops > 0
