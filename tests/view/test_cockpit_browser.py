"""The notebook of the cockpit in a real JupyterLab in a real browser: compose, plan, run, watch."""

import os
import shutil

import pytest

from fsgreen import design, paths, trial
from fsgreen.campaign import Campaign
from tests.view import chromium, composed
from tests.view.lab import PANEL, jupyterlab
from tests.view.widgets import LINES, TEXT, button, choose, chosen, control, press, type_in

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="JupyterLab, Chromium and a campaign take a minute: FSGREEN_NIGHTLY=1 ./run test "
        "tests/view/test_cockpit_browser.py",
    ),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        composed.project(folder, patch)
        composed.tiny(folder, "tiny", measure_s=600)
        (folder / "notebooks").mkdir()
        shutil.copy(paths.notebooks() / "02_cockpit.ipynb", folder / "notebooks")
        yield folder


@pytest.fixture(scope="module")
def page(project, tmp_path_factory):
    home, profile = (tmp_path_factory.mktemp(name) for name in ("home", "chromium"))
    with (
        jupyterlab(project / "notebooks", home) as address,
        chromium.browse(address.format("02_cockpit.ipynb"), profile) as page,
    ):
        page.wait(f"{PANEL}?.sessionContext?.session?.kernel?.status == 'idle'")
        page.value("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait(f"{control('campaign')} && {button('Start')} && {LINES}.length > 0")
        yield page


def test_it_begins_with_the_study_of_the_command_new(page):
    assert page.value(chosen("workload")) == ["varmail", "webserver"]
    assert page.value(chosen("file system"))[-1].startswith("xfs")
    assert page.value(chosen("baseline (in every block)")) == ["webserver-ext4-default"]
    assert "sound: 6 cells x 2 blocks = 12 trials" in page.value(TEXT)
    assert page.value(f"{button('Start')}.disabled"), "nothing is saved, so nothing is measured"


def test_what_is_chosen_is_the_file_that_is_shown_and_saved(page, project):
    choose(page, "workload", "varmail")
    type_in(page, "blocks", "3")
    page.wait(f"{TEXT}.includes('sound: 3 cells x 3 blocks = 9 trials')")
    shown = page.value(f"{LINES}.find((text) => text.includes('study: mine'))")
    assert "workload: [varmail]" in shown and "blocks: 3" in shown
    assert page.value(chosen("baseline (in every block)")) == ["varmail-ext4-default"]
    press(page, "Save")
    page.wait(f"{TEXT}.includes('saved and read back')")
    assert (project / "studies" / "mine.yaml").read_text().strip() == shown.strip()
    assert design.load_study("mine").profiles["quick"].blocks == 3


def test_the_plan_says_what_it_takes_and_what_nobody_knows_yet(page):
    page.wait(f"{chosen('study')}[0] === 'mine'")
    choose(page, "testbed", "directory")
    page.wait(f"{TEXT}.includes('--name mine-quick --testbed directory')")
    press(page, "Plan")
    page.wait(f"{LINES}.some((text) => text.includes('1 cell x 3 blocks = 3 trials'))")
    plan = page.value(f"{LINES}.find((text) => text.includes('1 cell x 3'))")
    assert "the testbed only has" in plan and "disk space: up to 4096 MiB" in plan
    press(page, "What it can decide")
    page.wait(f"{LINES}.some((text) => text.includes('the scatter of its trials is not known'))")
    press(page, "Preflight")
    page.wait(f"{TEXT}.includes('that could disturb it: in order')")
    heads = "[...document.querySelectorAll('.fsgreen-table th')].map((th) => th.textContent)"
    assert "what mends it" in page.value(heads)


def test_a_campaign_is_started_watched_paused_and_can_go_on(page, project, tmp_path):
    choose(page, "study", "tiny")
    page.wait(f"{TEXT}.includes('--name tiny-quick')")  # the choice empties what is typed below
    choose(page, "testbed", "directory")
    type_in(page, "folder", str(tmp_path))
    page.wait(f"{TEXT}.includes('--testbed directory --folder={tmp_path}')")
    press(page, "Start")
    page.wait(f"/tiny-quick: measuring, 0 of 1 trials measured; ends about/.test({TEXT})")
    page.wait(
        rf"/now: b01-001-wait-\S+power: system \d+\.\d W, disk \d+\.\d W \(modelled\)/.test({TEXT})"
    )
    assert page.value(f"{LINES}.some((text) => text.includes('to do     b01-001-wait'))")
    assert page.value(f"{button('Start')}.disabled")
    press(page, "Pause")
    page.wait(f"{TEXT}.includes('tiny-quick: paused, 0 of 1 trials measured')")
    said = page.value(f"{LINES}.find((text) => text.includes('nothing half-written is left'))")
    assert "testbed directory: asked for" in said
    assert page.value(f"{button('Go on')}.disabled") is False
    begun = Campaign("tiny-quick")
    assert begun.begun() and not trial.sweep(begun.folder) and not [*tmp_path.iterdir()]
    assert not page.errors
