"""The study of docs/ssd.md on processors: how many a workload has, and how fast they may run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import machines
import pytest

from fsgreen import campaign, design, host, paths, testbeds, trial
from fsgreen.campaign import fitting, idlepower, testbedfile
from fsgreen.design import Cell, Plan
from fsgreen.devices.frequencies import Frequencies
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import testbed
from fsgreen.workloads import process
from tests.campaign.conftest import QUICK_PHASES, ScriptedWorkload, directory, plan_of
from tests.campaign.test_windows import TurningWorkload

Behave = Callable[[Callable[[dict[str, Any]], None]], None]

STUDY = r"```yaml\n(study: mine-processors\n.*?)```"
HERE = os.sched_getaffinity(0)
ONE = str(min(HERE))
FAST_KHZ, SLOW_KHZ = 3_600_000, 1_200_000
MOST = f"{machines.CPU}/cpufreq/policy0/scaling_max_freq"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> design.Study:
    """The study of the page, whose campaigns are kept in a folder of the test."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    [text] = re.findall(STUDY, (paths.code() / "docs" / "ssd.md").read_text(), re.DOTALL)
    (file := tmp_path / "mine-processors.yaml").write_text(text)
    return design.read_study(file)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> host.Tree:
    """A processor whose frequency the kernel controls."""
    tree = machines.make(tmp_path / "machine")
    for policy in range(machines.POLICIES):
        for name in ("scaling_max_freq", "cpuinfo_max_freq"):
            file = f"{machines.CPU}/cpufreq/policy{policy}/{name}"
            machines.write(tree.root, file, str(FAST_KHZ))
    monkeypatch.setattr(testbed, "Frequencies", partial(Frequencies, tree=tree))
    return tree


def of_cells(study: design.Study, bed: testbeds.Testbed, *levels: dict[str, Any]) -> Plan:
    """A plan of one block in which each cell has some levels of the factors of a study."""
    plan = plan_of(bed, QUICK_PHASES)
    cells = [plan.baseline.but(**of_cell) for of_cell in levels]
    trials = tuple(
        design.PlannedTrial(f"b01-{nth:03d}-{cell.label}", 1, nth, 7, cell)
        for nth, cell in enumerate(cells, start=1)
    )
    factors = design.make_plan(study, "slow").factors
    return replace(plan, trials=trials, baseline=cells[0], factors=factors)


def test_the_study_of_the_page_can_be_planned(study: design.Study) -> None:
    number, speed = (design.make_plan(study, name) for name in ("quick", "slow"))
    assert {cell.label for cell in number.cells} == {
        f"varmail-{name}-default-cpu{cpus}"
        for name in ("ext4", "xfs")
        for cpus in ("all", "0", "0-1")
    }
    assert [cell.get("cpu_max_khz") for cell in speed.cells] == [None, SLOW_KHZ, 2 * SLOW_KHZ]
    assert speed.cells[1].label == "varmail-ext4-default-cpuall-1200000khz"


class Looking(ScriptedWorkload):
    """Work that tells what its programs may use, while it makes its files and while it works."""

    def __init__(self, name: str, look: Callable[[str], None]) -> None:
        super().__init__(name, lambda summary: look("run"))
        self._look = look

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        self._look("prepare")
        return super().prepare(directory, seed)


def of_a_program() -> str:
    """The processors that a program may use which a workload starts."""
    says = "import os; print(*sorted(os.sched_getaffinity(0)))"
    return process.run([sys.executable, "-c", says]).output.strip()


@pytest.mark.slow
@pytest.mark.usefixtures("quick", "patient", "caches_kept")
def test_each_trial_has_the_processors_of_its_cell_and_says_so(
    study: design.Study, tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the making of its files on; and nothing has them before or after it."""
    seen: set[tuple[str, str, int]] = set()

    def look(when: str) -> None:
        seen.add((when, of_a_program(), tree.number(MOST) or 0))

    monkeypatch.setattr(fitting, "load_workload", lambda name, *_: Looking(name, look))
    with testbeds.open_testbed("directory", size_b=2**20) as bed:
        slow = {"cpus": ONE, "cpu_max_khz": SLOW_KHZ}
        done = campaign.run(of_cells(study, bed, {"cpus": "all"}, slow), "mine", testbed=bed)
        assert tree.number(MOST) == FAST_KHZ
    every = " ".join(map(str, sorted(HERE)))
    assert seen == {
        (when, program, khz)
        for when in ("prepare", "run")
        for program, khz in ((every, FAST_KHZ), (ONE, SLOW_KHZ))
    }
    assert os.sched_getaffinity(0) == HERE
    found = {one.record.cell["cpus"]: one.record for one in trial.list_trials(done.folder)}
    assert found[ONE].processors == {"cpus": ONE, "cpu_max_khz": SLOW_KHZ}
    assert len(found) == 2 and found["all"].processors["cpu_max_khz"] == FAST_KHZ
    assert done.identity()["idle_bands_w"].keys() == {
        "cpu_max_khz as found",
        f"cpu_max_khz {SLOW_KHZ}",
    }


@pytest.mark.slow
@pytest.mark.usefixtures("quick", "patient", "caches_kept")
def test_a_frequency_that_is_lost_in_a_trial_spoils_it(
    study: design.Study, tree: host.Tree, behave: Behave
) -> None:
    lowered = ["800000"]

    def lower_once(summary: dict[str, Any]) -> None:
        if lowered:
            machines.write(tree.root, MOST, lowered.pop())

    behave(lower_once)
    with testbeds.open_testbed("directory", size_b=2**20) as bed:
        done = campaign.run(of_cells(study, bed, {"cpu_max_khz": SLOW_KHZ}), "mine", testbed=bed)
    [found] = trial.list_trials(done.folder)
    assert found.record.processors == {"cpu_max_khz": SLOW_KHZ}
    reasons = [one.record.reason or "" for one in trial.list_invalid(done.folder)]
    assert [why for why in reasons if "policy0 is 800000 although 1200000 kHz" in why]


@pytest.mark.parametrize(
    ("levels", "why"),
    [
        ({"cpus": "0-9999"}, "fsgreen may use the processors"),
        ({"cpu_max_khz": SLOW_KHZ}, "the kernel controls no frequency here"),
    ],
    ids=["processors", "frequency"],
)
def test_what_this_machine_lacks_is_refused_before_anything_is_made(
    study: design.Study,
    levels: dict[str, Any],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not after the first trials, hours later."""
    none = host.Tree(tmp_path / "none")
    monkeypatch.setattr(testbed, "Frequencies", partial(Frequencies, tree=none))
    cells = tuple(
        Cell(workload="varmail", file_system="ext4", **of_cell)
        for of_cell in ({"cpus": "all"}, levels)
    )
    small = replace(study, matrices={"number": cells})
    place = testbedfile.TestbedFile(kind="directory", folder=tmp_path)
    monkeypatch.setattr(testbeds.Testbed, "only_file_system", lambda self: "ext4")
    monkeypatch.setattr(testbeds.Testbed, "prepare", None)
    monkeypatch.setattr(idlepower, "idle_powers_w", None)
    with pytest.raises(FsgreenError, match=why) as caught:
        campaign.measure(small, "quick", place=place)
    assert caught.value.where and caught.value.next_step


@pytest.mark.slow
@pytest.mark.usefixtures("quick", "patient", "caches_kept")
def test_trials_that_take_turns_have_each_their_own(
    study: design.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last that began would decide for those beside it."""
    seen: set[tuple[float | None, str]] = set()

    def look(load_ops_s: float | None, nth: int) -> None:
        seen.add((load_ops_s, of_a_program()))

    monkeypatch.setattr(fitting, "load_workload", lambda name, *_: TurningWorkload(name, look))
    with ExitStack() as stack:
        beds = [stack.enter_context(directory()) for _ in range(2)]
        plan = of_cells(study, beds[0], {"cpus": "all"}, {"cpus": ONE, "load_ops_s": 9})
        windows = design.Windows(count=2, length_s=1.0, ready=2)
        in_turns = replace(plan, profile=replace(plan.profile, windows=windows, measure_s=2.0))
        done = campaign.run(in_turns, "mine", testbed=beds[0], beside=beds[1:])
    assert seen == {(None, " ".join(map(str, sorted(HERE)))), (9, ONE)}
    found = {one.record.cell["cpus"]: one.record for one in trial.list_trials(done.folder)}
    assert found[ONE].processors == {"cpus": ONE}
    assert os.sched_getaffinity(0) == HERE


def test_a_frequency_of_the_whole_machine_is_refused_beside_others(
    study: design.Study, bed: testbeds.Testbed
) -> None:
    """The second testbed would find what the first has set, and put that back."""
    plan = of_cells(study, bed, {"cpu_max_khz": SLOW_KHZ})
    in_turns = replace(plan, profile=replace(plan.profile, windows=design.Windows(2, 1.0, 2)))
    with pytest.raises(FsgreenError, match="cpu_max_khz is that of the whole machine"):
        fitting.check_turns(in_turns, {}, [bed, bed])
