"""The project's own studies, of what came after nfstricks03: what they declare holds together."""

import itertools

import pytest
import yaml

from fsgreen import design, paths, workloads
from fsgreen.analysis.claims import Claims
from fsgreen.campaign.fitting import told_to_workload
from fsgreen.design import Cell
from fsgreen.rules.subsets import without_reason

NAMES = ("linux-read-ahead", "linux-io-uring", "linux-nfs")
STUDIES = {name: design.load_study(name) for name in NAMES}
PROFILES = [(name, profile) for name, study in STUDIES.items() for profile in study.profiles]


@pytest.mark.parametrize(("name", "profile"), PROFILES)
def test_each_profile_says_why_it_leaves_out_what_it_leaves_out(name: str, profile: str) -> None:
    """Rule 6 would fire on every campaign of it."""
    study = STUDIES[name]
    assert without_reason(design.make_plan(study, profile), study) == []


def test_no_read_ahead_is_a_level_of_its_own_and_not_the_lack_of_one() -> None:
    """A level of 0 that was taken for none would be the default of 128 KiB."""
    study = STUDIES["linux-read-ahead"]
    cells = design.make_plan(study, "quick").cells
    off = Cell(**{**study.baseline, "kernel_read_ahead_kib": 0})
    assert off.label == "sequential-readers-ext4-default-8readers-wd200bb-ra0"
    assert {off, off.but(kernel_read_ahead_kib=128)} <= set(cells)


@pytest.mark.parametrize("name", STUDIES)
def test_what_it_expects_is_asked_of_cells_that_it_measures(name: str) -> None:
    """A claim on a cell that no profile has would wait for ever; on two, it would mix them."""
    claims = Claims.of(name)
    cells = design.make_plan(STUDIES[name], "quick").cells
    asked = [
        {**claims.entries[slug].where, **levels, **dict(zip(part.for_each, combined, strict=True))}
        for slug, entry in claims.entries.items()
        for _, _, part in entry.selectors
        for levels in (*part.of, *(getattr(part, "against", None) or ()))
        for combined in itertools.product(*part.for_each.values())
    ]
    assert asked
    for levels in asked:
        assert "workload" in levels
        assert sum(levels.items() <= dict(cell).items() for cell in cells) == 1, levels


@pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="engine not installed: ./run engine"
)
@pytest.mark.parametrize(("name", "profile"), PROFILES)
def test_each_workload_takes_the_levels_of_its_cells(name: str, profile: str) -> None:
    """A text that knows no `readers` is found when the first campaign begins."""
    plan = design.make_plan(STUDIES[name], profile)
    for cell in plan.cells:
        workload, levels = cell["workload"], told_to_workload(plan, cell)
        scale = plan.profile.scale.get(workload, 1.0)
        workloads.load_workload(workload, scale, levels).check()


@pytest.mark.parametrize("name", ["linux-read-ahead", "linux-io-uring"])
def test_the_page_shows_the_factor_as_each_study_declares_it(name: str) -> None:
    """Two studies that declare a factor otherwise are not planned in one process."""
    page = (paths.root() / "docs" / "readahead.md").read_text()
    factor = "kernel_read_ahead_kib"
    shown = yaml.safe_load(factor + page.partition(f"factors:\n  {factor}")[2].partition("```")[0])
    declared = yaml.safe_load((paths.root() / "studies" / f"{name}.yaml").read_text())
    assert shown[factor] == declared["factors"][factor]
