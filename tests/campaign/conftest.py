"""A campaign small enough for a test: a directory, emulated meters, and work that can misbehave."""

from __future__ import annotations

import hashlib
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fsgreen import design, testbeds
from fsgreen.campaign import checks, drive, fitting, idlepower
from fsgreen.devices import probe
from fsgreen.devices import served as of_devices
from fsgreen.meters.core import registry
from fsgreen.trial import HarnessCost, Phase, WorkSummary
from fsgreen.workloads import Outcome
from tests.testbeds.served import serve_patiently

PHASES = {"idle_s": 1.2, "warmup_s": 0.2, "measure_s": 3.0, "settle_limit_s": 30.0}
QUICK_PHASES = {"idle_s": 0.4, "warmup_s": 0.1, "measure_s": 1.0, "settle_limit_s": 30.0}
QUICK_METERS = tuple(
    {
        "name": name,
        "driver": "scpi",
        "emulate": True,
        "profile": f"fast10-{name}",
        "voltage_range_v": 300,
        "current_range_a": 5,
        "update_s": 0.25,
    }
    for name in ("system", "disk")
)


class ScriptedWorkload:
    """Work of a known rate; `behave` is called once a run and may raise or change the summary."""

    size_b = 2**20
    text = "the text that the campaign begins with"

    def __init__(self, name: str, behave: Callable[[dict[str, Any]], None]) -> None:
        self.name = name
        self._behave = behave

    def text_sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def check(self) -> None:
        """Accept everything."""

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        (directory / "file").write_bytes(bytes(seed % 251 for _ in range(4096)))
        return {"files_count": 1}

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None,
        stop: threading.Event | None,
    ) -> Outcome:
        begin_s = time.monotonic()
        assert stop is not None
        cut = stop.wait(warmup_s + measure_s)
        start_s, end_s = begin_s + warmup_s, time.monotonic()
        summary: dict[str, Any] = {
            "duration_s": end_s - start_s,
            "work_ops": 300,
            "partial": cut,
            "errors": {},
        }
        self._behave(summary)
        ops = pd.DataFrame(
            {
                "time_s": [end_s],
                "duration_s": [end_s - start_s],
                "work_ops": [300],
                "read_b": [0],
                "write_b": [0],
            }
        )
        latency = pd.DataFrame(
            {
                "process": ["p"],
                "thread": ["t"],
                "flowop": ["f"],
                "operation": ["read"],
                "lower_ns": [1000],
                "upper_ns": [1100],
                "work_ops": [300],
            }
        )
        phases = [Phase("warmup", begin_s, start_s), Phase("measure", start_s, end_s)]
        return Outcome(phases, ops, latency, WorkSummary(**summary))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty data folder that takes the place of the project's own."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def behave(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[dict[str, Any]], None]], None]:
    """Return a function that sets how the scripted workload behaves."""

    be_scripted(monkeypatch, lambda summary: None)
    return partial(be_scripted, monkeypatch)


def be_scripted(
    monkeypatch: pytest.MonkeyPatch, behaviour: Callable[[dict[str, Any]], None]
) -> None:
    """Put the scripted workload in the place of every other until the patch ends."""
    monkeypatch.setattr(
        fitting, "load_workload", lambda name, *_: ScriptedWorkload(name, behaviour)
    )


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try trials that must count as often as a machine may stand still."""
    be_patient(monkeypatch)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what `patient` does until the patch ends.

    The harness takes a larger share of a short trial than of one that people measure (rule 20).
    """
    monkeypatch.setattr(HarnessCost, "LIMIT_PERCENT", 50)
    monkeypatch.setattr(drive, "ATTEMPTS", 20)
    monkeypatch.setattr(drive, "COPIES", 20)


@pytest.fixture
def unprobed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have campaigns begin without the probe of their place, which takes longer than a trial.

    `test_measured.py` and `test_sixth_study.py` begin with it.
    """
    monkeypatch.setattr(probe, "measurements", lambda *given, **named: {})


@pytest.fixture
def on_any_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept a second or less on a simulated disk that a busy machine serves too late."""
    monkeypatch.setattr(idlepower, "IDLE_S", 1.5)
    monkeypatch.setattr(of_devices, "Server", serve_patiently)
    monkeypatch.setattr(checks, "ON_TIME_SHARE", 0.0)
    monkeypatch.setattr(HarnessCost, "LIMIT_PERCENT", 50)


@pytest.fixture
def quick_meters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have meters of four readings a second, for which a second is enough to measure.

    They are the real path of a power analyser, and show the power that the default pair shows.
    """
    monkeypatch.setattr(registry, "WITHOUT_METER", QUICK_METERS)
    monkeypatch.setattr(idlepower, "IDLE_S", 1.0)


@pytest.fixture
def quick(quick_meters: None, unprobed: None) -> None:
    """Have such meters, and campaigns that begin at once."""


@pytest.fixture
def bed() -> Iterator[testbeds.Testbed]:
    """Yield the testbed `directory` on a folder of its own, where a cache can be cold."""
    with directory() as opened:
        yield opened


@contextmanager
def directory() -> Iterator[testbeds.Testbed]:
    """Give the testbed of `bed`."""
    with (
        tempfile.TemporaryDirectory(dir=testbeds.default_folder("directory")) as folder,
        testbeds.open_testbed("directory", folder=Path(folder), size_b=2**20) as opened,
    ):
        yield opened


@pytest.fixture
def plan(bed: testbeds.Testbed, quick: None) -> design.Plan:
    """Return a plan of one block with two cells, for the meters of `quick`."""
    return plan_of(bed, QUICK_PHASES)


def plan_of(bed: testbeds.Testbed, phases: dict[str, float]) -> design.Plan:
    """Return a plan of one block with two cells on the file system of the directory."""
    study = design.load_study("fast10")
    quick = replace(study.profiles["quick"], blocks=1, **phases)
    cells = tuple(
        design.Cell(workload=name, file_system="ext4") for name in ("webserver", "varmail")
    )
    calm = {
        **study.bounds,
        "others_percent": 101,
        "idle_band_percent": 50,  # a test machine may be busy
        "budget_percent": 50,  # the interval is short: few readings, of which the edges cut two
    }
    small = replace(
        study, bounds=calm, matrices={"two_file_systems": cells}, profiles={"quick": quick}
    )
    return design.make_plan(small, "quick", only=bed.only_file_system())
