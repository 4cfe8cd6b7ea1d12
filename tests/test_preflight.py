"""The doctor must be right about this machine, and a plan that cannot fit must not start."""

from dataclasses import replace
from pathlib import Path

import pytest

from fsgreen import design, paths, preflight, testbeds
from fsgreen.errors import FsgreenError


def test_findings_are_ordered_by_severity_and_faults_have_remedies() -> None:
    findings = preflight.check()
    order = ["blocks", "warning", "note", "ok"]
    ranks = [order.index(finding.severity) for finding in findings]
    assert ranks == sorted(ranks)
    assert all(finding.remedy for finding in findings if finding.severity in ("blocks", "warning"))


def test_a_busy_machine_is_a_warning_and_a_calm_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for busy_percent, severity in ((1.0, "ok"), (40.0, "warning")):
        monkeypatch.setattr(preflight, "_busy_percent", lambda value=busy_percent: value)
        (row,) = [found for found in preflight.check() if found.subject == "CPU"]
        assert row.severity == severity


@pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="the engine is not built: ./run engine"
)
def test_files_that_do_not_fit_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    study = design.load_study("fast10")
    with testbeds.open_testbed("directory", folder=tmp_path, size_b=2**20) as bed:
        plan = design.make_plan(study, "quick", only=bed.only_file_system())
        preflight.check_plan(plan, bed)
        huge = replace(plan.profile, scale={**plan.profile.scale, "fileserver": 1.0})
        with pytest.raises(FsgreenError, match=r"fileserver at scale 1 needs \d+ MiB"):
            preflight.check_plan(replace(plan, profile=huge), bed)
