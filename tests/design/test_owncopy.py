"""Whoever is told to change a study never changes one that ships."""

import re
import subprocess

import pytest
import yaml

from fsgreen import design, paths
from fsgreen.design.owncopy import SHIPPED, file_of, file_to_change, measured_as, to_change


def test_a_shipped_study_is_changed_in_a_copy_that_can_be_measured(tmp_path, monkeypatch):
    """To change it itself would make the shipped campaigns ones of another plan."""
    told = file_to_change("fast10")
    (command,) = re.findall(r"\(first: (.+)\)$", told)
    (tmp_path / "studies").mkdir()
    shipped = paths.study("fast10").read_text()
    (tmp_path / "studies" / "fast10.yaml").write_text(shipped)
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    copy = tmp_path / told.partition(" ")[0]
    assert copy.stem == to_change("fast10") != "fast10"
    with monkeypatch.context() as patch:
        patch.setattr(paths, "root", lambda: tmp_path)
        own = design.load_study(to_change("fast10"))
        assert own == design.load_study("fast10")
    assert own.name == "fast10", "its campaigns are judged on the same claims"


def test_all_studies_of_shipped_campaigns_are_known():
    """Of another one the shipped file would be changed itself."""
    campaigns = yaml.safe_load((paths.code() / "params.yaml").read_text())["campaigns"]
    assert {entry["study"] for entry in campaigns.values()} == {*SHIPPED}


def test_the_second_remedy_does_not_undo_what_the_first_led_to(tmp_path):
    (command,) = re.findall(r"\(first: (.+)\)$", file_to_change("fast10"))
    (tmp_path / "studies").mkdir()
    for name in ("fast10", to_change("fast10")):
        (tmp_path / "studies" / f"{name}.yaml").write_text(name)
    subprocess.run(command, shell=True, check=False, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "studies" / f"{to_change('fast10')}.yaml").read_text() == "fast10-own"


def test_a_campaign_of_a_changed_copy_goes_on_by_the_name_of_that(tmp_path, monkeypatch):
    """By the name of the shipped study it would be refused: that makes another plan."""
    copy = tmp_path / "fast10-own.yaml"
    found = paths.new_study
    monkeypatch.setattr(paths, "new_study", lambda name: copy if "own" in name else found(name))
    shipped = design.make_plan(design.load_study("fast10"), "quick")
    assert measured_as(shipped) == "fast10", "there is no copy yet"
    text, changes = re.subn(r"^seed: (\d+)", r"seed: 1\1", found("fast10").read_text(), flags=re.M)
    assert changes == 1
    copy.write_text(text)
    changed = design.load_study(to_change("fast10"))
    assert measured_as(design.make_plan(changed, "quick")) == "fast10-own"
    assert file_of(design.make_plan(changed, "quick")) == "studies/fast10-own.yaml"
    assert measured_as(design.make_plan(changed, "quick", only="xfs")) == "fast10-own"
    assert measured_as(shipped) == "fast10"
    copy.write_text("study: [")
    assert measured_as(shipped) == "fast10", "the copy is being changed"


@pytest.mark.parametrize("study", ["mine", "fast10"])
def test_a_study_of_one_s_own_is_changed_itself(study, tmp_path, monkeypatch):
    """In a project all studies are its own, also one that was copied there."""
    if study == "fast10":
        monkeypatch.setattr(paths, "root", lambda: tmp_path)
    assert file_to_change(study) == f"studies/{study}.yaml"
    assert to_change(study) == study
