"""The study of docs/ssd.md on the states of an NVMe drive, each of which idles at its own watts."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fsgreen import campaign, design, paths
from fsgreen.campaign import fitting, idlepower, testbedfile
from fsgreen.campaign.context import TrialContext
from fsgreen.errors import FsgreenError

STUDY = r"```yaml\n(study: mine-states\n.*?)```"
TESTBED = r'```toml\n(\[testbed\]\nkind = "block"\n.*?)```'

DECIDED = {
    f"power_state {state}, apst_us {rest}": {"power_state": state, "apst_us": rest}
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
    assert loaded == [{"disk": None, **DECIDED[key]} for key in idle_w]
    context: Any = SimpleNamespace(plan=plan, identity={"idle_bands_w": idle_w, "idle_band_w": 9.0})
    for cell in plan.cells:
        planned: Any = SimpleNamespace(cell=cell)
        key = "power_state {power_state}, apst_us {apst_us}".format(**cell)
        assert TrialContext.idle_band_w(context, planned) == idle_w[key]


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
