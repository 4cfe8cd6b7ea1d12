"""A slip in `params.yaml` is told with its line before any stage runs."""

from pathlib import Path

import pytest

from fsgreen import paths, pipeline
from fsgreen.errors import FsgreenError

STUDY = "profiles: {quick: {}, full: {}}"
SOUND = "campaigns:\n  mine:\n    study: web\n    profile: quick\n    place: --testbed loop\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one study of two profiles."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "web.yaml").write_text(STUDY)
    return tmp_path


def test_campaigns_come_in_their_order(root: Path) -> None:
    more = SOUND.replace("campaigns:\n", "").replace("mine", "another")
    (root / "params.yaml").write_text(SOUND + more)
    assert pipeline.campaigns() == ["mine", "another"]


@pytest.mark.parametrize(
    ("slip", "line", "told"),
    [
        (("study: web", "study: wed"), 3, "unknown study 'wed', did you mean web"),
        (("profile: quick", "profile: quik"), 4, "unknown profile 'quik', did you mean quick"),
        (("    place", "    palce"), 5, "unknown key palce, did you mean place"),
        (("    profile: quick\n", ""), 2, "the key profile is missing"),
        (("study: web", "study: 7"), 3, "takes a text"),
        (("campaigns", "campaign"), 1, "unknown key campaign, did you mean campaigns"),
    ],
)
def test_a_slip_is_told_with_its_line(
    root: Path, slip: tuple[str, str], line: int, told: str
) -> None:
    (root / "params.yaml").write_text(SOUND.replace(*slip))
    with pytest.raises(FsgreenError, match=told) as caught:
        pipeline.campaigns()
    assert f"params.yaml:{line}" in str(caught.value.where) or f"line {line}:" in caught.value.what


def test_a_slip_is_told_to_a_command_that_looks_for_results(root: Path) -> None:
    """It ended in a traceback."""
    for slip, told in (("campaign: {}", "the key campaigns is missing"), ("a: [", "not YAML")):
        (root / "params.yaml").write_text(slip)
        with pytest.raises(FsgreenError, match=told):
            paths.ships("mine")
