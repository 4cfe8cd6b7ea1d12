"""The study of docs/ssd.md on the states of an NVMe drive, each of which idles at its own watts."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from loops import foreign_loop, need, private_registry
from nvmedrive import nvme_cli
from playeddisk import SERIAL, play

from fsgreen import campaign, design, paths, trial
from fsgreen.campaign import fitting, idlepower, testbedfile
from fsgreen.devices import nvme
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import ListedDisk, open_testbed

__all__ = ["foreign_loop", "private_registry"]

STUDY = r"```yaml\n(study: mine-states\n.*?)```"
TESTBED = r'```toml\n(\[testbed\]\nkind = "block"\n.*?)```'

DECIDED = {
    f"nvme_power_state {state}, apst_us {rest}": {"nvme_power_state": state, "apst_us": rest}
    for state in (0, 1, 2)
    for rest in (0, 100000)
}


def of_page(pattern: str) -> str:
    [text] = re.findall(pattern, (paths.code() / "docs" / "ssd.md").read_text(), re.DOTALL)
    return str(text)


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> design.Plan:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "mine-states.yaml").write_text(of_page(STUDY))
    return design.make_plan(design.load_study("mine-states"), "quick")


def idle_of(plan: design.Plan, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[Any, float], list]:
    """The idle power by states of a drive that draws a watt more in each; what it was set to."""
    loaded: list[Mapping[str, Any]] = []
    monkeypatch.setattr(idlepower, "_idle_power_w", lambda *given: float(len(loaded)))
    testbed: Any = SimpleNamespace(load=loaded.append)
    of_no_campaign: Any = None
    return idlepower.idle_powers_w(of_no_campaign, plan, testbed, {}), loaded


def test_the_study_of_the_page_can_be_planned(plan: design.Plan) -> None:
    pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    assert len(plan.cells) == 2 * len(DECIDED)
    assert plan.baseline.label == "varmail-ext4-default-ps0-apst0"
    for cell in plan.cells:
        assert fitting.workload_of(plan, cell).size_b <= plan.profile.image_b


def test_each_state_has_an_idle_band_of_its_own(
    plan: design.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drive that may not rest would never come down into the band of one that rests."""
    idle_w, loaded = idle_of(plan, monkeypatch)
    assert idle_w.keys() == DECIDED.keys()
    *of_states, probed = loaded
    assert of_states == [{"disk": None, **DECIDED[key]} for key in idle_w]
    assert probed == plan.levels(plan.baseline), "the last state would be that of the probe"
    identity = {"idle_bands_w": idle_w, "idle_band_w": 9.0}
    for cell in plan.cells:
        key = "nvme_power_state {nvme_power_state}, apst_us {apst_us}".format(**cell)
        assert idlepower.idle_band_w(identity, plan, cell) == idle_w[key]


def test_other_studies_have_the_bands_that_they_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaigns that have begun keep bands by the names of disks."""
    plan = design.make_plan(design.load_study("fast10"), "quick")
    assert idle_of(plan, monkeypatch)[0] == {None: 1.0}
    disks = design.make_plan(design.load_study("nfstricks03"), "quick")
    assert idle_of(disks, monkeypatch)[0].keys() == {cell["disk"] for cell in disks.cells}


@pytest.mark.usefixtures("plan")
def test_a_setting_of_the_host_beside_its_factor_is_refused(tmp_path: Path) -> None:
    """After a kill, what the campaign had set would be put back over what the user had."""
    file = tmp_path / "states.toml"
    host = '[host]\napply = ["governor", "apst=0"]\ndisks = ["nvme0n1"]\n'
    file.write_text(f"{of_page(TESTBED)}\n{host}")
    with pytest.raises(FsgreenError, match="apst is set for the whole campaign, and apst_us"):
        campaign.measure("mine-states", "quick", place=testbedfile.read(str(file)))


@pytest.mark.loop
@pytest.mark.slow
@pytest.mark.usefixtures("plan", "quick", "patient", "caches_kept")
def test_each_trial_of_a_campaign_is_measured_in_its_state_and_says_so(
    foreign_loop: Path,
    tmp_path: Path,
    behave: Callable[[Callable[[dict[str, Any]], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The drive is a loop device, whose power state a program keeps. Once it is reset at work."""
    resets = ["0"]

    def reset_once(summary: dict[str, Any]) -> None:
        if resets and (tmp_path / "works").read_text() == "2\n":
            for name in ("works", "now"):
                (tmp_path / name).write_text(resets[0])
            resets.clear()

    behave(reset_once)
    need("ext4")
    monkeypatch.setattr(nvme, "controller_of", lambda disk: "nvme7")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    nvme_cli(tmp_path, "/dev/nvme7")
    study = design.load_study("mine-states")
    states = tuple(
        design.Cell(workload="varmail", file_system="ext4", nvme_power_state=state)
        for state in (0, 2)
    )
    phases = {"idle_s": 0.4, "warmup_s": 0.1, "measure_s": 1.0, "settle_limit_s": 30.0}
    profile = replace(study.profiles["quick"], blocks=1, image_b=32 << 20, **phases)
    busy = {"others_percent": 101, "idle_band_percent": 50, "budget_percent": 50}
    small = replace(
        study,
        baseline=states[0],
        bounds={**study.bounds, **busy},
        matrices={"states": states},
        profiles={"quick": profile},
    )
    listed = ListedDisk(play(foreign_loop, tmp_path, monkeypatch), SERIAL)
    with open_testbed("block", size_b=32 << 20, listed=listed) as bed:
        done = campaign.run(design.make_plan(small, "quick"), "mine", testbed=bed)
    records = [one.record for one in trial.list_trials(done.folder)]
    assert {record.cell["nvme_power_state"]: record.mount["nvme"] for record in records} == {
        0: {"nvme_power_state": 0},
        2: {"nvme_power_state": 2},
    }
    reasons = [one.record.reason or "" for one in trial.list_invalid(done.folder)]
    assert [why for why in reasons if "nvme_power_state" in why and "is 0 although 2" in why]
    assert not resets
    assert done.identity()["idle_bands_w"].keys() == {"nvme_power_state 0", "nvme_power_state 2"}
    assert (tmp_path / "works").read_text() == "0\n"
