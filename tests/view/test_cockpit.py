"""The cockpit without a browser: a study is saved as composed, and nothing is lost or measured."""

import html
import os
import re
import shlex
import shutil
import subprocess
import threading
import time
from dataclasses import asdict, replace
from itertools import product

import pytest
import synthetic

from fsgreen import campaign, cli, design, paths
from fsgreen.campaign import studycheck
from fsgreen.design import newstudy
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.trial import write_json
from fsgreen.view.cockpit import Cockpit
from fsgreen.view.cockpit import order as order_module
from fsgreen.view.cockpit import run as cockpit_run
from fsgreen.view.cockpit.choose import Choose, Planned
from fsgreen.view.cockpit.compose import CHANGED, Compose
from fsgreen.view.cockpit.draft import Draft
from fsgreen.view.cockpit.order import Harness, Order
from fsgreen.view.cockpit.run import Run
from fsgreen.view.cockpit.seen import Seen, Watch
from tests.patience import wait_for
from tests.view import composed
from tests.view.test_trialfolder import HEAD, HEADER, record

SHIPPED = sorted((paths.code() / "studies").glob("*.yaml"))

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="measures for a minute: FSGREEN_NIGHTLY=1 ./run test tests/view/test_cockpit.py",
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    composed.project(tmp_path / "project", monkeypatch)
    return tmp_path / "project"


@pytest.fixture
def saved():
    return []


@pytest.fixture
def compose(project, saved):
    return Compose("mine", saved.append)


def count(compose, key, value):
    """Type a number of the profile."""
    (number,) = [one for one in compose.numbers if one.place[-1] == key]
    compose.numbers[number].value = value


def text(widget):
    """What a person reads."""
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", widget.value))


# --- compose ------------------------------------------------------------------------------------


def test_what_is_composed_is_the_study_that_is_read_back(compose, project, saved):
    compose.levels["workload"].value = ["varmail", "oltp"]
    compose.levels["file_system"].value = ["ext4", "xfs"]
    compose.levels["cache"].value = ["cold", "warm"]
    compose.title.value = "Does a warm cache: matter?"
    count(compose, "blocks", 3)
    count(compose, "measure_s", 12.5)
    assert "8 cells x 3 blocks = 24 trials" in text(compose.says)
    compose.keep.click()
    assert saved == ["mine"]
    file = project / "studies" / "mine.yaml"
    assert text(compose.file).strip() == file.read_text().strip(), "what is shown is what is saved"
    study = studycheck.check(file, "quick")
    assert study.title == "Does a warm cache: matter?"
    assert study.profiles["quick"].blocks == 3 and study.profiles["quick"].measure_s == 12.5
    plan = design.make_plan(study, "quick")
    assert {cell["workload"] for cell in plan.cells} == {"varmail", "oltp"}
    assert {cell["file_system"] for cell in plan.cells} == {"ext4", "xfs"}
    assert {plan.levels(cell)["cache"] for cell in plan.cells} == {"cold", "warm"}
    assert plan.baseline in plan.cells, "webserver is gone, another cell takes its place"


def test_what_is_wrong_is_told_and_nothing_is_saved(compose, project, saved):
    compose.levels["workload"].value = []
    assert "the matrix all has no workload" in text(compose.says)
    compose.keep.click()
    assert "the matrix all has no workload" in text(compose.kept)
    assert not saved and not [*(project / "studies").iterdir()]
    compose.levels["workload"].value = ["varmail"]
    compose.study.value = "../elsewhere"
    assert "cannot be the name of a study" in text(compose.says)
    compose.keep.click()
    assert not saved and not [*(project / "studies").iterdir()]


def test_a_file_that_says_more_is_not_written_over(project, saved):
    """Comments are what an author knows, and no control holds them."""
    before = newstudy.write("mine").read_text()
    compose = Compose("mine", saved.append)
    assert compose.title.value == "Three file systems under a web and a mail server"
    count(compose, "blocks", 4)
    compose.keep.click()
    assert "what it says would be lost" in text(compose.kept)
    assert (project / "studies" / "mine.yaml").read_text() == before
    compose.study.value = "mine-2"
    compose.keep.click()
    assert saved == ["mine-2"]
    ours, theirs = design.load_study("mine-2"), design.load_study("mine")
    assert ours.exclusions == theirs.exclusions and ours.matrices == theirs.matrices
    assert ours.profiles["quick"].blocks == 4 and ours.profiles["full"] == theirs.profiles["full"]


def test_a_study_of_another_day_is_opened_before_it_is_changed(compose, project, saved):
    """Who begins anew under an old name would lose what was composed under it."""
    compose.keep.click()
    first = (project / "studies" / "mine.yaml").read_text()
    anew = Compose("other", saved.append)
    anew.study.value = "mine"
    count(anew, "blocks", 7)
    anew.keep.click()
    assert "what it says would be lost" in text(anew.kept)
    assert (project / "studies" / "mine.yaml").read_text() == first
    anew.start.value = "mine"
    count(anew, "blocks", 7)
    anew.keep.click()
    assert design.load_study("mine").profiles["quick"].blocks == 7


def test_options_are_those_that_all_chosen_file_systems_have(compose):
    def offered():
        return [level for _, level in compose.levels["option"].options]

    compose.levels["file_system"].value = ["ext3"]
    assert {"default", "noatime", "dtlg"} <= {*offered()}
    compose.levels["option"].value = ["default", "noatime", "dtlg"]
    assert compose.draft.levels("quick", "all", "option") == ["default", "noatime", "dtlg"]
    compose.levels["file_system"].value = ["ext3", "xfs"]
    assert "noatime" in offered() and "dtlg" not in offered()
    assert compose.draft.levels("quick", "all", "option") == ["default", "noatime"]
    assert "sound" in text(compose.says)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_study_that_is_begun_with_loses_nothing(file, project):
    """What no control knows, such as windows, factors and comparisons, must stay."""
    shutil.copy(file, project / "studies")
    draft = Draft.open(file.stem)
    before, draft.name = design.load_study(file.stem), "copy"
    for profile, of in draft.values["profiles"].items():
        for matrix, factor in product(of["matrices"], ("workload", "file_system", "cache")):
            draft.choose(profile, matrix, factor, draft.levels(profile, matrix, factor))
    assert replace(draft.check(next(iter(before.profiles))), name=file.stem) == before


def test_saved_is_said_of_what_the_file_says(compose):
    """Start measures the file: who changes more would measure what was before."""
    compose.keep.click()
    assert "saved and read back" in text(compose.kept)
    count(compose, "blocks", 9)
    assert text(compose.kept).strip() == CHANGED
    compose.keep.click()
    assert "saved and read back" in text(compose.kept)


def test_a_level_stands_in_the_matrix_where_a_profile_holds_another(compose):
    """The profile's constant would be measured instead of the level that is chosen."""
    draft = compose.draft
    draft.put({"cache": "warm"}, "profiles", "quick", "constants")
    assert draft.at("constants", "cache") == "cold"
    assert draft.levels("quick", "all", "cache") == ["warm"], "what the profile measures is shown"
    draft.choose("quick", "all", "cache", ["cold"])
    draft.baseline = draft.cells("quick")[0]
    plan = design.make_plan(draft.check("quick"), "quick")
    assert {plan.levels(cell)["cache"] for cell in plan.cells} == {"cold"}


# --- choose -------------------------------------------------------------------------------------


def test_saving_keeps_what_is_chosen(compose, project):
    """Another campaign would be measured, or elsewhere, than somebody chose before saving again."""
    compose.keep.click()
    kept = paths.data() / "scratch" / "cockpit" / "mine-quick.json"
    kept.parent.mkdir(parents=True)
    write_json(kept, asdict(Order("mine", "quick", "mine-quick", "auto", "/before")))
    choose = Choose("mine")
    assert choose.order.folder == "/before"
    choose.folder.value, choose.campaign.value, choose.profile.value = "/now", "again", "full"
    order = choose.order
    choose.offer("mine")
    assert choose.order == order == Order("mine", "full", "again", "auto", "/now")


def test_a_folder_is_the_same_to_the_process_as_in_the_notebook(compose, project, monkeypatch):
    """The kernel works in notebooks/, the process in the folder of the project."""
    compose.keep.click()
    choose = Choose("mine")
    choose.folder.value = "work"
    assert choose.order.folder == str(project / "work")
    choose.folder.value = "~/elsewhere"
    assert choose.order.folder == os.path.expanduser("~/elsewhere")
    (project / "notebooks").mkdir()
    monkeypatch.chdir(project / "notebooks")
    monkeypatch.setenv("FSGREEN_DATA", "own")
    begun = []
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **words: begun.append(words) or Begun())
    Harness("mine-quick").start(choose.order)
    assert begun[0]["env"]["FSGREEN_DATA"] == str(project / "notebooks" / "own")


# --- plan ---------------------------------------------------------------------------------------


def test_the_command_is_one_that_the_command_line_takes(tmp_path):
    """No shell reads it, and whoever copies it into one gets the same words."""
    order = Order("mine", "quick", "mine-2", "directory", "-odd folder; touch $(oops)")
    options = cli.parser().parse(order.arguments)
    assert (options.study, options.profile, options.name) == ("mine", "quick", "mine-2")
    assert (options.testbed, str(options.folder)) == ("directory", order.folder)
    assert shlex.split(order.typed) == ["fsgreen", *order.arguments]
    assert order.place.folder == options.folder


def test_the_plan_is_what_the_command_prints(compose, capsys):
    compose.keep.click()
    assert cli.main(["plan", "mine"]) == 0
    printed = capsys.readouterr().out
    *lines, space = Order("mine", "quick", "mine-quick", "loop").planned()
    assert " ".join(lines).split() == printed.split()
    assert space.startswith("disk space: up to 4096 MiB for files under test, and up to 1024 MiB")
    assert cli.main(["plan", "mine", "--assay"]) == 0
    decides = Order("mine", "quick", "mine-quick").decides()
    assert " ".join(decides).split() == capsys.readouterr().out.split()


def test_in_a_directory_the_plan_is_that_of_its_file_system(compose, tmp_path):
    """Who plans three file systems without root must see before that one is measured."""
    compose.keep.click()
    _, plan = Order("mine", "quick", "mine-quick", "directory", str(tmp_path)).plan()
    only = mounts.holding(tmp_path).file_system
    assert {cell["file_system"] for cell in plan.cells} == {only} and len(plan.cells) == 2


def test_what_disturbs_is_told_with_what_mends_it(compose, monkeypatch):
    compose.keep.click()
    planned = Planned(Choose("mine"))
    planned.buttons["Preflight"].click()
    told = text(planned.shown["Preflight"])
    assert "power meter" in told and "more were looked at and are well" in told
    monkeypatch.setattr(Order, "findings", lambda _: (_ for _ in ()).throw(FsgreenError("broken")))
    planned.buttons["Preflight"].click()
    assert "broken" in text(planned.shown["Preflight"])


# --- run and watch ------------------------------------------------------------------------------


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


class Begun:
    """A process that goes on until it is asked to stop."""

    pid = 1

    def __init__(self):
        self.asked = []

    def poll(self):
        return 0 if self.asked else None

    def terminate(self):
        self.asked.append(1)


def test_no_process_goes_on_that_nobody_could_pause(project, monkeypatch):
    process = Begun()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: process)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(order_module, "write_json", full)
        with pytest.raises(FsgreenError, match="cannot be noted, so it was stopped: No space"):
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
