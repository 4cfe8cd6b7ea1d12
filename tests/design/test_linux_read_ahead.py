"""The project's own study of Linux's read-ahead: what it declares holds together."""

import itertools

import pytest
import yaml

from fsgreen import design, paths, workloads
from fsgreen.analysis.claims import Claims
from fsgreen.campaign.fitting import told_to_workload
from fsgreen.design import Cell
from fsgreen.rules.subsets import without_reason

STUDY = design.load_study("linux-read-ahead")


def test_each_profile_says_why_it_leaves_out_what_it_leaves_out() -> None:
    """Rule 6 would fire on every campaign of it."""
    for profile in STUDY.profiles:
        assert without_reason(design.make_plan(STUDY, profile), STUDY) == []


def test_no_read_ahead_is_a_level_of_its_own_and_not_the_lack_of_one() -> None:
    """A level of 0 that was taken for none would be the default of 128 KiB."""
    cells = design.make_plan(STUDY, "quick").cells
    off = Cell(**{**STUDY.baseline, "kernel_read_ahead_kib": 0})
    assert off.label == "sequential-readers-ext4-default-8readers-wd200bb-ra0"
    assert {off, off.but(kernel_read_ahead_kib=128)} <= set(cells)


def test_what_it_expects_is_asked_of_cells_that_it_measures() -> None:
    """A claim on a cell that no profile has would wait for ever."""
    claims = Claims.of("linux-read-ahead")
    cells = design.make_plan(STUDY, "quick").cells
    asked = [
        {**claims.entries[slug].where, **levels, **dict(zip(part.for_each, combined, strict=True))}
        for slug, entry in claims.entries.items()
        for _, _, part in entry.selectors
        for levels in (*part.of, *(getattr(part, "against", None) or ()))
        for combined in itertools.product(*part.for_each.values())
    ]
    assert asked
    for levels in asked:
        assert any(levels.items() <= dict(cell).items() for cell in cells), levels


@pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="engine not installed: ./run engine"
)
def test_each_workload_takes_the_levels_of_its_cells() -> None:
    """A text that knows no `readers` is found when the first campaign begins."""
    for profile in STUDY.profiles:
        plan = design.make_plan(STUDY, profile)
        for cell in plan.cells:
            name, levels = cell["workload"], told_to_workload(plan, cell)
            workloads.load_workload(name, plan.profile.scale.get(name, 1.0), levels).check()


def test_the_page_shows_its_factor_as_it_declares_it() -> None:
    """Two studies that declare a factor otherwise are not planned in one process."""
    page = (paths.root() / "docs" / "readahead.md").read_text()
    name = "kernel_read_ahead_kib"
    shown = yaml.safe_load(name + page.partition(f"factors:\n  {name}")[2].partition("```")[0])
    declared = yaml.safe_load((paths.root() / "studies" / "linux-read-ahead.yaml").read_text())
    assert shown[name] == declared["factors"][name]
