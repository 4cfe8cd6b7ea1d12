"""The study of docs/ssd.md on what flash translation adds, on a small SSD and in seconds."""

import re
from pathlib import Path

import pytest
import yaml

from fsgreen import campaign, paths, reduce
from fsgreen.analysis.cells import cells_table
from fsgreen.campaign import testbedfile
from fsgreen.design import load_study, metrics
from fsgreen.meters import simdisk
from fsgreen.meters.core.host import SSD_COLUMNS
from fsgreen.trial import list_trials
from tests.patience import BOUNDS
from tests.testbeds.served import needs_disk, small_ssd

STUDY = r"```yaml\n(study: mine-flash\n.*?)```"
SMALL = {
    "blocks": 1,
    "phases": {"idle_s": 0.4, "warmup_s": 0.5, "measure_s": 4, "settle_limit_s": 60},
    "scale": 0.01,
    "image_mib": 128,
}


@needs_disk
@pytest.mark.usefixtures("patient", "quick", "on_any_disk", "caches_dropped")
def test_what_a_used_ssd_copies_is_in_the_metrics_of_its_cell(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the drive knows it, and its server ends with the trials."""
    [text] = re.findall(STUDY, (paths.code() / "docs" / "ssd.md").read_text(), re.DOTALL)
    study = yaml.safe_load(text) | yaml.safe_load(BOUNDS)
    assert study["constants"].pop("disk") == "x25-m-g2-slowed"
    study["profiles"]["quick"] |= SMALL
    # A busy machine asks late, which breaks rule 13 where an interval is short.
    monkeypatch.setattr(simdisk, "DISK", {**simdisk.DISK, "rate_hz": 2})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "mine-flash.yaml").write_text(yaml.safe_dump(study))
    place = testbedfile.TestbedFile(kind="simdisk", disk=small_ssd(tmp_path))
    campaign.measure("mine-flash", "quick", place=place)
    for found in list_trials(paths.raw("mine-flash-quick")):
        assert found.table("host")[[*SSD_COLUMNS]].iloc[-1].gt(0).all()
    reduce.write("mine-flash-quick")
    trials = reduce.read_table("mine-flash-quick", "trials")
    written = trials["host_written_b"] / trials["device_write_b"]
    assert written.tolist() == pytest.approx([1, 1], rel=0.1), "another interval than the device's"
    planned = load_study("mine-flash")
    measured_by = [metrics.get(name) for name in planned.metrics]
    cells = cells_table(trials, planned.bounds, measured_by).set_index("device")
    percent = cells["flash_amplification_percent"]
    assert percent["initial"] < 105 < percent["steady"], "a used drive copies what is still valid"
    both = percent * cells["write_amplification_percent"] / 10_000
    assert both.tolist() == pytest.approx(cells["all_amplification_x"].tolist(), rel=0.1)
