"""A trial of GreenFS over three devices in which the cable is out and the server crashes."""

from pathlib import Path

import pytest
from loops import need

from fsgreen import campaign, paths, trial
from fsgreen.campaign import passed, testbedfile
from fsgreen.devices import served
from fsgreen.meters import simdisk
from tests.patience import BOUNDS
from tests.testbeds.served import needs_disk, serve_patiently

pytestmark = pytest.mark.usefixtures("patient", "unprobed")

STUDY = f"""
study: away
title: A disk that sleeps
question: Does it sleep, whatever becomes of the server?
seed: 1
baseline: {{workload: compile, file_system: greenfs, flash: memory}}
factors:
  flash: {{owner: device, label: "on-{{}}", spelling: "on flash {{}}",
          unset: the files are on the disk}}
constants: {{disk: greenfs08-desktop}}
efficiency: {{meters: [disk]}}
{BOUNDS}
matrices:
  protected: {{workload: [compile], file_system: [greenfs], flash: [memory]}}
profiles:
  quick:
    matrices: [protected]
    blocks: 1
    phases: {{idle_s: 1.2, warmup_s: 0, measure_s: 120, settle_limit_s: 60}}
    scale: 0.05
    image_mib: 64
    events:
    - {{phase: measure, at_s: 0.5, do: cable_out}}
    - {{phase: measure, at_s: 1, do: cable_in}}
    - {{phase: measure, at_s: 1.5, do: server_killed}}
    - {{phase: idle, at_s: 0.3, do: disk_asleep}}
"""


@needs_disk
def test_a_trial_has_the_events_of_its_study_and_a_silent_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could tell a disk that slept from one that was only not asked for in a while."""
    need("greenfs")
    monkeypatch.setattr(served, "Server", serve_patiently)
    # A busy machine asks late, which breaks rule 13 where an interval is short.
    monkeypatch.setattr(simdisk, "DISK", {**simdisk.DISK, "rate_hz": 4})
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "away.yaml").write_text(STUDY)
    campaign.measure("away", "quick", place=testbedfile.TestbedFile(kind="simdisk"))
    [found] = trial.list_trials(paths.raw("away-quick"))
    record = found.record
    assert [(event.name, event.fault) for event in record.events] == [
        ("cable_out", None),
        ("cable_in", None),
        ("server_killed", None),
        ("disk_asleep", None),
    ]
    assert set(record.devices["disk"]) == {*passed.COUNTED, passed.STARTS}
    assert not any(record.devices["disk"].values()), "the disk was asked for something"
    assert record.devices["flash"]["reads_count"] > 0
    assert any(check.detail == "every copy holds all files" for check in record.checks)
    assert record.mount["stacked"]["served"]
    joules = record.simulated["parts_j"]["disk"] if record.simulated else {}
    assert joules["standby"] > 0 and sum(joules.values()) == joules["standby"]
