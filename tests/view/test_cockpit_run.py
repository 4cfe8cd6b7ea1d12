"""The cockpit while a campaign runs: how far it is, that it can be paused, and what came of it."""

import os
import shutil
import subprocess
import threading
import time

import pytest
import synthetic

from fsgreen import campaign, design, paths
from fsgreen.errors import FsgreenError
from fsgreen.view.cockpit import Cockpit
from fsgreen.view.cockpit import harness as cockpit_harness
from fsgreen.view.cockpit import run as cockpit_run
from fsgreen.view.cockpit.choose import Choose
from fsgreen.view.cockpit.harness import Harness
from fsgreen.view.cockpit.order import Order
from fsgreen.view.cockpit.run import Run
from fsgreen.view.cockpit.seen import Seen, Watch
from tests.patience import wait_for
from tests.view import composed
from tests.view.composed import Begun, text
from tests.view.test_trialfolder import HEAD, HEADER, record

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="measures for a minute: FSGREEN_NIGHTLY=1 ./run test tests/view/test_cockpit_run.py",
)


@pytest.fixture
def half(project):
    """A campaign that was stopped before its last trial."""
    shutil.copy(paths.code() / "studies" / "fast10.yaml", project / "studies")
    plan = synthetic.make_plan(synthetic.cells(file_systems=("ext4", "xfs")))
    folder = synthetic.write_raw("fast10-quick", plan)
    shutil.rmtree(folder / "trials" / plan.trials[-1].trial)
    return folder


def begin_a_trial(folder, name, time_s):
    """What stands in a campaign while a trial runs whose meter has spoken once."""
    partial = folder / "trials" / f".{name}.partial"
    partial.mkdir()
    (partial / "power.raw").write_text(f"{HEAD}{HEADER}\n{record(time_s, 214.0)}")


def test_how_far_it_is_is_what_status_says(half):
    watch = Watch("fast10-quick")
    seen = watch.seen()
    assert (seen.done, seen.due) == (3, 4)
    assert seen.lines == tuple(campaign.status(campaign.Campaign("fast10-quick")))
    assert seen.last.record.exit == "ok"
    assert watch.power() == "" and watch.running() == []


def test_the_trial_that_runs_is_shown_with_its_watts(half):
    name = campaign.Campaign("fast10-quick").pending()[0].trial
    begin_a_trial(half, name, time.monotonic())
    watch = Watch("fast10-quick")
    assert watch.running() == [name]
    assert watch.power() == "system 214.0 W (wall)"
    run = Run(Choose("fast10"))
    assert "measuring by a process that no cockpit started, 3 of 4" in text(run.state)
    assert name in text(run.now) and "214.0 W" in text(run.now)


def test_looking_again_reads_no_trial_before_another_has_come(half, monkeypatch):
    """Looking takes processor time from what is measured (rule 10)."""
    looks, of = [], Seen.of
    monkeypatch.setattr(Seen, "of", lambda campaign: looks.append(1) or of(campaign))
    watch = Watch("fast10-quick")
    watch.seen()
    watch.seen()
    assert len(looks) == 1
    shutil.rmtree(next((half / "trials").iterdir()))
    assert watch.seen().done == 2 and len(looks) == 2


def test_a_campaign_that_was_stopped_can_go_on(half):
    run = Run(Choose("fast10"))
    assert "fast10-quick: paused, 3 of 4 trials measured" in text(run.state)
    assert (run.bar.value, run.bar.max) == (3, 4)
    assert run.start.description == "Go on"
    assert not run.start.disabled and run.pause.disabled
    assert "counts" in text(run.last) and "sound" in text(run.last)
    run.pause.click()
    assert "no process that a cockpit started measures fast10-quick" in text(run.state)
    assert text(run.trust).strip() == "", "nothing was analysed"


def test_a_damaged_campaign_is_told_with_what_to_do(half):
    (half / "plan.json").write_text("{")
    assert "not readable JSON" in text(Run(Choose("fast10")).state)


def test_nothing_is_chosen_before_a_study_is_saved(project):
    """Start would measure a study that nobody meant."""
    shutil.copy(paths.code() / "studies" / "fast10.yaml", project / "studies")
    cockpit = Cockpit("mine")
    assert cockpit.choose.order is None and cockpit.run.start.disabled
    cockpit.compose.keep.click()
    assert cockpit.choose.order == Order("mine", "quick", "mine-quick")
    assert not cockpit.run.start.disabled
    assert "fsgreen measure mine --profile quick" in text(cockpit.choose.command)


def test_a_trial_that_is_repeated_is_shown_with_its_watts(half):
    """It has the name of the one before, whose folder is gone."""
    name, watch = campaign.Campaign("fast10-quick").pending()[0].trial, Watch("fast10-quick")
    begin_a_trial(half, name, time.monotonic())
    assert watch.power()
    shutil.rmtree(half / "trials" / f".{name}.partial")
    begin_a_trial(half, name, time.monotonic())
    assert watch.power() == "system 214.0 W (wall)"


def test_a_trial_that_begins_has_none_read_again(half, monkeypatch):
    looks, of = [], Seen.of
    monkeypatch.setattr(Seen, "of", lambda campaign: looks.append(1) or of(campaign))
    watch = Watch("fast10-quick")
    watch.seen()
    begin_a_trial(half, "b9-other", time.monotonic())
    watch.seen()
    assert len(looks) == 1


@pytest.fixture
def judged(half, monkeypatch):
    """A campaign of which all trials are measured, and analysed before."""
    monkeypatch.setattr(design, "due", lambda plan, trials: [one for one in plan.trials][:3])
    results = paths.results("fast10-quick")
    results.mkdir(parents=True)
    (results / "trust.csv").touch()
    return half


def says(campaign, words):
    """Have a process that has ended have said this."""
    log = paths.data() / "scratch" / "cockpit" / f"{campaign}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(words)


def test_a_start_that_failed_does_not_look_like_success(judged):
    """The trust page of an earlier one would be taken for that of this one."""
    run = Run(Choose("fast10"))
    assert "fast10-quick: 3 of 3 trials measured; ended" in text(run.state)
    says("fast10-quick", "testbed loop\nfsgreen: the disk is gone\n  in: /x\n  next: find it\n")
    run.look.click()
    assert "fast10-quick: the last start here failed; 3 of 3" in text(run.state)
    assert "the disk is gone" in text(run.said) and "<details>" not in run.said.value
    says("fast10-quick", "fsgreen: stopped; nothing half-written is left.\n")
    run.look.click()
    assert "failed" not in text(run.state), "a pause is no failure"


def test_what_is_measured_and_not_analysed_says_so(judged, monkeypatch):
    """An analysis that is stopped half-way asks for a mend that nothing needs."""
    (paths.results("fast10-quick") / "trust.csv").unlink()
    run = Run(Choose("fast10"))
    assert "not analysed: Go on does it" in text(run.state)
    monkeypatch.setattr(Harness, "running", lambda _: True)
    run.refresh()
    assert "being analysed" in text(run.state) and run.pause.disabled


def test_looking_begins_again_after_what_nobody_expected(half, monkeypatch):
    """A page that stands still for good looks like a campaign that does."""
    monkeypatch.setattr(cockpit_run, "POLL_S", 0.01)
    broke, seen = [], Watch.seen
    monkeypatch.setattr(threading, "excepthook", broke.append)
    monkeypatch.setattr(Harness, "running", lambda _: True)
    here = threading.current_thread()

    def breaks(watch):
        if threading.current_thread() is not here:
            raise OSError("broken")
        return seen(watch)

    monkeypatch.setattr(Watch, "seen", breaks)
    run = Run(Choose("fast10"))
    wait_for(lambda: broke)
    run.follow()
    wait_for(lambda: len(broke) > 1)
    run.stop()


def test_cells_that_run_again_have_one_looker(half, monkeypatch):
    """Each looker takes processor time from what is measured (rule 10)."""
    monkeypatch.setattr(Harness, "running", lambda _: True)
    runs = [Run(Choose("fast10")) for _ in range(3)]
    assert [one.name for one in threading.enumerate()].count("cockpit") == 1
    runs[-1].stop()
    assert "cockpit" not in [one.name for one in threading.enumerate()]


def test_no_process_goes_on_that_nobody_could_pause(project, monkeypatch):
    process = Begun()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: process)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(cockpit_harness, "write_json", full)
        with pytest.raises(FsgreenError, match="so the campaign was stopped: No space"):
            Harness("mine-quick").start(Order("mine", "quick", "mine-quick"))
    assert process.asked
    process.asked.clear()
    harness = Harness("mine-quick")
    harness.start(Order("mine", "quick", "mine-quick"))
    (paths.data() / "scratch" / "cockpit" / "mine-quick.json").unlink()
    harness.pause()
    assert process.asked, "its own process it can pause whatever became of the note"


@by_night
def test_a_campaign_goes_on_without_its_notebook_and_is_paused_by_another(project, tmp_path):
    composed.tiny(project, "tiny", measure_s=600)
    (tmp_path / "a folder").mkdir()
    order = Order("tiny", "quick", "tiny-quick", "directory", str(tmp_path / "a folder"))
    first, second = Harness("tiny-quick"), Harness("tiny-quick")
    first.start(order)
    assert second.running()
    with pytest.raises(FsgreenError, match="being measured already"):
        second.start(order)
    wait_for(lambda: any(line.startswith("testbed directory") for line in second.lines(9)))
    assert second.order() == order
    assert Choose("tiny").order == order, "a notebook that is opened anew goes on with the same"
    second.pause()
    wait_for(lambda: not first.running())
    assert second.lines(1) == ["fsgreen: stopped; nothing half-written is left."]
    assert not second.running()
    assert [*(tmp_path / "a folder").iterdir()] == []


@by_night
def test_from_a_start_to_the_trust_page(project, tmp_path):
    composed.tiny(project, "tiny", measure_s=2)
    cockpit = Cockpit("tiny")
    cockpit.choose.testbed.value = "directory"
    cockpit.choose.folder.value = str(tmp_path)
    cockpit.run.start.click()
    wait_for(lambda: "1 of 1 trials measured; ended" in text(cockpit.run.state))
    cockpit.run.stop()
    assert "last trial b01-001-wait" in text(cockpit.run.last)
    trust = text(cockpit.trust)
    assert "can these numbers be trusted? Of 52 rules" in trust
    assert "report: " in trust and "report.pdf" in trust
