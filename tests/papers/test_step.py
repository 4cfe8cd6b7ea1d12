"""Which module does a step of the analysis, by the study of a campaign."""

import synthetic

from fsgreen import generic, papers
from fsgreen.papers.fast10 import figures


def test_a_published_study_has_its_own_figures_and_any_other_those_of_all(
    tmp_path, monkeypatch
) -> None:
    """Otherwise a study of one's own is drawn as fast10, or not at all."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("published", synthetic.make_plan())
    synthetic.write_raw("own", synthetic.make_plan(study="mine"))
    assert papers.step("published", "figures") is figures
    assert papers.step("own", "figures").__name__ == f"{generic.__name__}.figures"
