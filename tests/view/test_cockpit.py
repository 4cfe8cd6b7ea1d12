"""The cockpit without a browser: a study is saved as composed, and nothing is lost or measured."""

import fcntl
import os
import shlex
import shutil
import subprocess
from dataclasses import asdict, replace
from itertools import product

import pytest

from fsgreen import cli, design, paths
from fsgreen.campaign import studycheck
from fsgreen.design import newstudy
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.trial import write_json
from fsgreen.view.cockpit.choose import Choose, Planned
from fsgreen.view.cockpit.compose import CHANGED, Compose
from fsgreen.view.cockpit.draft import Draft
from fsgreen.view.cockpit.harness import Harness
from fsgreen.view.cockpit.order import Order
from tests.view.composed import Begun, text

SHIPPED = sorted((paths.code() / "studies").glob("*.yaml"))


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
    assert "already, which would be overwritten" in text(compose.kept)
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
    assert "already, which would be overwritten" in text(anew.kept)
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


def test_it_begins_with_what_is_being_measured(compose, project, monkeypatch):
    """Who opens the notebook again to watch would find another study, and might start that."""
    compose.keep.click()
    newstudy.write("other")
    kept = paths.data() / "scratch" / "cockpit"
    kept.mkdir(parents=True)
    orders = [Order("other", "full", "night", "directory"), Order("mine", "quick", "mine-quick")]
    for second, order in enumerate(orders):
        file = kept / f"{order.campaign}.json"
        write_json(file, asdict(order))
        os.utime(file, (second, second))
    assert Choose("mine").order == orders[1], "nothing runs"
    with (kept / "night.log").open("a") as said:
        fcntl.flock(said, fcntl.LOCK_EX)
        assert Choose("mine").order == orders[0]
    assert Choose("mine").order == orders[1], "it has ended"


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
    order = Order("mine", "quick", "mine-quick", "loop")
    *lines, space = order.planned()
    assert " ".join(lines).split() == printed.split()
    assert space.startswith("disk space: up to 4096 MiB for files under test, and up to 1024 MiB")
    assert cli.main(["plan", "mine", "--assay"]) == 0
    assert " ".join(order.decides()).split() == capsys.readouterr().out.split()


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
    assert "power meter" in told and "that could disturb it: in order" in told
    monkeypatch.setattr(Order, "findings", lambda _: (_ for _ in ()).throw(FsgreenError("broken")))
    planned.buttons["Preflight"].click()
    assert "broken" in text(planned.shown["Preflight"])
