"""A fleet of one machine: a project with a study that sleeps, a home and workers as processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fsgreen import fleet, trial
from fsgreen.campaign import Campaign
from fsgreen.fleet import certificates
from tests.meters.asked import free_port
from tests.patience import wait_for

STUDY = """
study: asleep
title: One nap and two
question: Do more naps take more joules?
seed: 7
baseline: {workload: nap, file_system: ext4, naps: 1}
bounds:
  {others_percent: 101, idle_band_percent: 1000, budget_percent: 100, speed_percent: 1000,
  equivalence_percent: 50}
metrics: [throughput]
factors:
  naps: {owner: workload, kind: count, label: "n{}"}
workloads:
  nap:
    command: [sh, -c, "sleep {measure_s}; : {naps}"]
    size_mib: 1
matrices:
  all: {workload: [nap], file_system: [ext4], naps: [1, 2]}
profiles:
  quick:
    matrices: [all]
    blocks: 2
    phases: {idle_s: 0.4, warmup_s: 0, measure_s: 1, settle_limit_s: 30}
    image_mib: 32
"""

METER = """
[[meter]]
name = "{name}"
driver = "scpi"
emulate = true
profile = "fast10-{name}"
voltage_range_v = 300
current_range_a = 5
update_s = 0.25
"""
QUICK = '[testbed]\nkind = "directory"\n' + "".join(
    METER.format(name=name) for name in ("system", "disk")
)

CHILD = """
import runpy
from fsgreen.campaign import drive, idlepower
from fsgreen.devices import probe
from fsgreen.trial import HarnessCost
HarnessCost.LIMIT_PERCENT = 50  # of a trial this short
drive.ATTEMPTS = drive.COPIES = 20  # a machine may stand still as often
probe.measurements = lambda *given, **named: {}  # it takes longer than all trials
idlepower.IDLE_S = 1.0
runpy.run_module("fsgreen.fleet.child", run_name="__main__")
"""
WORKER = f"""
import sys
from fsgreen import cli
from fsgreen.fleet import harness
harness.CHILD = ("-P", "-c", {CHILD!r})
sys.exit(cli.main(["fleet", "worker", "fleet.toml", *sys.argv[1:]]))
"""
HOME = """
import sys
from pathlib import Path
from fsgreen import fleet
from fsgreen.errors import FsgreenError
from fsgreen.fleet import shares
shares.GIVEN_UP_S = 2.0
try:
    fleet.measure("asleep", "quick", Path("fleet.toml"), name=sys.argv[1])
except FsgreenError as error:
    sys.exit(str(error))
"""


@dataclass
class Yard:
    """A folder with a project, and the processes of its fleet."""

    folder: Path
    port: int
    testbeds: tuple[str, ...]
    shares: bool = False
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    within: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What a process of this name is started by, as `ip netns exec NAME`."""

    def start(self, name: str, code: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a process that says what it says into NAME.log, in a session of its own."""
        with (self.folder / f"{name}.log").open("ab") as said:
            process = subprocess.Popen(
                [*self.within.get(name, ()), sys.executable, "-P", "-c", code, *arguments],
                cwd=self.folder,
                env={**os.environ, "FSGREEN_MACHINE": f"{self.folder}-{name}"},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start the worker of a testbed."""
        return self.start(name, WORKER, "--name", name, "--testbed", "quick.toml")

    def home(self, campaign: str = "asleep-quick") -> subprocess.Popen[bytes]:
        """Start home."""
        return self.start("home", HOME, campaign)

    def said(self, name: str) -> str:
        """What a process has said so far."""
        file = self.folder / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def here(self, name: str) -> list[str]:
        """The whole trials of a testbed that are at home."""
        return whole(self.folder / "data" / "raw" / f"asleep-quick.{name}")

    def there(self, name: str) -> list[str]:
        """The whole trials of a testbed that its worker has."""
        return whole(self.folder / "data" / "fleet" / name / "raw" / f"asleep-quick.{name}")

    def end(self) -> None:
        """End all processes, and what they started."""
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def whole(campaign: Path) -> list[str]:
    """The whole trials below the folder of a campaign."""
    folder = campaign / "trials"
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    return [entry.name for entry in entries if not entry.name.startswith(".")]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def project(folder: Path, *testbeds: str, design: str = "replicate") -> Yard:
    """Make a project with the study, a fleet file and certificates."""
    (folder / "studies").mkdir()
    (folder / "studies" / "asleep.yaml").write_text(STUDY)
    (folder / "params.yaml").write_text("campaigns: {}\n")
    (folder / "quick.toml").write_text(QUICK)
    certificates.make(folder / "certificates")
    port = free_port()
    names = ", ".join(f'"{name}"' for name in testbeds)
    (folder / "fleet.toml").write_text(
        f'home = "localhost:{port}"\ncertificates = "certificates"\ntestbeds = [{names}]\n'
        f'design = "{design}"\n'
    )
    return Yard(folder, port, testbeds, design == "share")


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Callable[..., Yard]]:
    """Give what makes a project of a fleet; nothing of it runs on."""
    made: list[Yard] = []

    def make(*testbeds: str, design: str = "replicate") -> Yard:
        made.append(project(tmp_path, *testbeds, design=design))
        return made[-1]

    yield make
    for one in made:
        one.end()


def wait_until(yard: Yard, condition: Callable[[], bool]) -> None:
    """Wait for something; if that is in vain, show what the processes have said."""
    try:
        wait_for(condition)
    except AssertionError:
        said = {file.name: file.read_text(errors="replace") for file in yard.folder.glob("*.log")}
        pytest.fail(f"waited in vain: {said}")


def check_whole(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost or doubled, and what is at home is what was measured, to the byte."""
    monkeypatch.setenv("FSGREEN_DATA", str(yard.folder / "data"))
    for name in yard.testbeds:
        done = Campaign(fleet.member("asleep-quick", name))
        whole = trial.list_trials(done.folder)
        there = yard.folder / "data" / "fleet" / name / "raw" / done.name
        for one in whole:
            one.verify()
            assert one.record.campaign == done.name
            same = there / "trials" / one.name / "trial.json"
            assert (one.folder / "trial.json").read_bytes() == same.read_bytes()
        if not yard.shares:  # one that is lost there need not come back
            for file in ("plan.json", "campaign.json", "confounds.json"):
                assert (done.folder / file).read_bytes() == (there / file).read_bytes()
            check_each_once(done)
    if yard.shares:
        made = Campaign("asleep-quick")
        check_each_once(made)
        places = {(one.record.block, one.record.campaign) for one in trial.list_trials(made.folder)}
        assert len(places) == len({block for block, _ in places}), "a block is of two testbeds"


def check_each_once(done: Campaign) -> None:
    """Each trial that a campaign owes is there, and no other."""
    whole = trial.list_trials(done.folder)
    assert [one.name for one in whole] == [planned.trial for planned in done.due()]
    assert not done.pending()
    assert not list((done.folder / "trials").glob(".*"))
