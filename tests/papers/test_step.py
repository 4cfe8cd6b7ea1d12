"""Which module does a step of the analysis, by the study of a campaign."""

import pytest

from fsgreen import papers
from fsgreen.errors import FsgreenError


def test_a_study_that_nothing_analyses_is_refused_before_hours_of_measuring() -> None:
    papers.check_analysed("fast10")
    with pytest.raises(FsgreenError, match=r"nothing analyses(.|\n)*keep its line `study: fast10`"):
        papers.check_analysed("mine")
