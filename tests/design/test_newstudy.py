"""A study of one's own: begun by one command, checked whole by another."""

from pathlib import Path

import pytest
import yaml

from fsgreen import cli, design, paths
from fsgreen.campaign import studycheck
from fsgreen.design import newstudy
from fsgreen.errors import FsgreenError
from fsgreen.schema import plain


@pytest.fixture
def studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of studies that is not that of the checkout."""
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    return tmp_path


def test_a_new_study_is_sound_short_and_explained(studies: Path) -> None:
    file = newstudy.write("mine")
    study = studycheck.check(file, "quick")
    assert len(design.make_plan(study, "quick").cells) == 6
    assert len(file.read_text().splitlines()) <= 40
    assert studycheck.too_short(study, "quick") is None


def test_the_change_that_the_tutorial_shows_is_sound(studies: Path) -> None:
    """It is the first that a new user makes."""
    page = (paths.code() / "docs" / "own-study.md").read_text()
    change = page.partition("```yaml\n")[2].partition("```")[0]
    file = newstudy.write("mine")
    file.write_text(yaml.safe_dump({**plain(file.read_text()), **plain(change)}))
    plan = design.make_plan(studycheck.check(file, "quick"), "quick")
    assert len(plan.cells) == 4
    assert plan.baseline.label == "varmail-ext4-default"


def test_an_existing_study_is_not_written_over(studies: Path) -> None:
    newstudy.write("mine").write_text("precious")
    with pytest.raises(FsgreenError, match="there is a study mine already"):
        newstudy.write("mine")
    assert (studies / "mine.yaml").read_text() == "precious"


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("varmail]", "varmial]", "line 13: unknown workload 'varmial', did you mean varmail"),
        ("ext4, xfs]", "ext4, xfz]", "line 14: unknown file system 'xfz', did you mean xfs"),
        ("measure_s: 11", "measure_s: 3s", "measure_s: takes a number above 0, not '3s'"),
        ("image_mib", "image_mb", "unknown key image_mb, did you mean image_mib"),
        ("scale: 0.05 ", "scale: {webserver: 1} ", "the workload varmail has no scale"),
        ("seed:", "sead:", "unknown key sead, did you mean seed"),
        ("file_system: ext4}", "file_system: ext4, optoin: a}", "unknown factor 'optoin'"),
    ],
)
def test_a_mistake_is_told_with_its_line_by_fsgreen_plan(
    was: str, becomes: str, told: str, studies: Path, capsys
) -> None:
    file = newstudy.write("mine")
    assert was in file.read_text()
    file.write_text(file.read_text().replace(was, becomes, 1))
    assert cli.main(["plan", str(file)]) == 1
    error = capsys.readouterr().err
    assert told in error.replace("fsgreen: not a study: ", "") or told.partition(": ")[2] in error
    assert f"{file}:" in error


def test_trials_too_short_for_the_meters_are_told_with_what_would_do(studies: Path) -> None:
    file = newstudy.write("mine")
    file.write_text(file.read_text().replace("measure_s: 11", "measure_s: 3"))
    assert "9 would do for steady work" in (
        studycheck.too_short(design.read_study(file), "quick") or ""
    )


def test_the_list_names_what_there_is(capsys) -> None:
    assert cli.main(["list"]) == 0
    text = capsys.readouterr().out
    for word in ("fast10", "webserver", "noatime", "queue_depth", "hoboware", "btrfs"):
        assert word in text
