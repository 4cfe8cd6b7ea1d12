"""A small study in a virtual machine, from its file to its tables."""

from pathlib import Path

import pytest
from vms import EMULATED, need_guest, nightly

from fsgreen import campaign, cli, design, paths, reduce, trial
from fsgreen.campaign import testbedfile, virtual
from fsgreen.devices.vm import alone
from fsgreen.stacks.guest.stack import GuestStack
from fsgreen.testbeds import Mount

STUDY = """\
study: guests
title: File systems that kernels of today lack
question: Do they work?
seed: 3
baseline: {workload: varmail, file_system: f2fs, option: default}
constants: {scheduler: none, cache: cold, device: initial}
bounds: {budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}
matrices:
  all: {workload: [varmail], file_system: [f2fs, nilfs2, reiserfs]}
  two: {workload: [varmail], file_system: [f2fs, reiserfs]}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {idle_s: 0.4, warmup_s: 0.1, measure_s: 1, settle_limit_s: 30}
    scale: {varmail: 0.002}
    image_mib: 192
  alone:
    matrices: [two]
    blocks: 1
    phases: {idle_s: 0.1, warmup_s: 0, measure_s: 0.2, settle_limit_s: 1}
    scale: {varmail: 0.001}
    image_mib: 96
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    need_guest()
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "guests.yaml").write_text(STUDY)
    return "guests"


@nightly
def test_a_study_is_measured_in_a_guest_and_goes_on_after_one_that_panics(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial of the broken guest does not count; each record says whose time it has."""
    remount = GuestStack.remount
    panics = [["sh", "-c", "echo c > /proc/sysrq-trigger"]]

    def broken_once(self: GuestStack) -> Mount:
        if panics:
            self._device.ask("run", command=panics.pop())
        return remount(self)

    monkeypatch.setattr(GuestStack, "remount", broken_once)
    place = testbedfile.TestbedFile(kind="vm", in_memory=True, clock=EMULATED.clock)
    made = campaign.measure(study, "quick", place=place)
    trials = trial.list_trials(made.folder)
    assert {one.record.cell["file_system"] for one in trials} == {"f2fs", "nilfs2", "reiserfs"}
    for one in trials:
        assert one.record.mount["guest"]["clock"] == "tcg"
        assert "only inside the guest" in one.record.mount["guest"]["compares"]
    [broken] = trial.list_invalid(made.folder)
    assert "the guest ended" in (broken.record.reason or "")
    assert made.identity()["testbed"]["guest_kernel"].startswith("6.1.")
    reduce.write("guests-quick")
    assert (reduce.read_table("guests-quick", "trials")["work_ops"] > 0).all()
    assert "in a virtual machine" in reduce.rests_on("guests-quick")


def test_a_block_that_a_profile_lacks_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A guest would start for nothing."""
    assert cli.main(["virtual", "fast10", "--block", "99"]) == 1
    told = capsys.readouterr().err
    assert "there is no block 99: the profile quick has 1 to 2" in told
    assert "fsgreen virtual fast10 --profile quick --block 1" in told


@nightly
def test_the_same_job_in_virtual_time_gives_the_same_bytes_twice(study: str) -> None:
    """A lab compares file systems on thirty laptops, and all thirty see the same numbers."""
    plan = design.make_plan(design.load_study(study), "alone")
    job = virtual.job_of(plan, block=1)
    first, again = (alone.run(job, plan.profile.image_b) for _ in range(2))
    assert first == again
    rows = virtual.rows(first)
    assert [row["trial"] for row in rows] == [one["trial"] for one in job["trials"]]
    assert all(row["work_ops"] > 0 and row["virtual_s"] > 0 for row in rows), rows
