"""The gallery: every figure that was made, with its claims and with what makes it anew."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest

from fsgreen import figures, paths
from fsgreen.claims import load_claims
from fsgreen.schema import plain
from fsgreen.site import gallery
from fsgreen.site.figures import NOTEBOOKS, read

CAMPAIGN, STUDY = "nfstricks03", "nfstricks03"
CAPTION = "Zones <of> both disks."
VERDICT = "reproduced"


def draw(folder: Path, name: str, *, nothing: bool = False) -> None:
    figure = figures.new(1.0)
    if nothing:
        figures.empty(figure, "Nothing was measured.")
    else:
        figure.add_subplot()
    figures.save(figure, folder, name)


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """What there is, where one campaign and one ledger have been made."""
    data = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(data))
        results = paths.results(CAMPAIGN)
        for name in (
            "fig1",
            "fig3_schedulers",
            "irregular_cells",
            "recommended_sequential-readers",
        ):
            draw(results / "figures", name)
        draw(results / "figures", "confound_queue", nothing=True)
        draw(results / "interactions", "pairs")
        numbers = {
            "boundary": "modelled",
            "testbed": "simdisk",
            "setup": [["Testbed", "simdisk, image of 1 GiB"], ["Disks", "wd200bb, simulated"]],
            "figures": [
                {"file": "fig1.svg", "caption": CAPTION},
                {"file": "fig3_schedulers.svg", "caption": "Schedulers."},
            ],
            "intervals": {
                "irregular": [{"file": "irregular_cells.svg", "caption": "Irregular cells."}]
            },
            "interactions": [{"file": "pairs.svg", "caption": "Pairs."}],
        }
        (results / "numbers.json").write_text(json.dumps(numbers))
        verdicts(results, STUDY)
        ledger = paths.ledger("greenfs08")
        draw(ledger / "figures", "fig_budget")
        evaluation = {"figures": [{"file": "fig_budget.svg", "caption": "Hostile days."}]}
        (ledger / "numbers.json").write_text(json.dumps({"evaluation": evaluation}))
        verdicts(ledger, "greenfs08")
        yield read()


def verdicts(folder, study):
    with (folder / "claims.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ("slug", "verdict", "basis"))
        table.writeheader()
        for slug in load_claims(study):
            table.writerow({"slug": slug, "verdict": VERDICT, "basis": "simulated"})


@pytest.fixture(scope="module")
def shown(groups):
    return gallery.page(groups).html


def test_every_figure_that_shows_something_is_there_once(groups):
    (group,) = (group for group in groups if group.name == CAMPAIGN)
    assert [figure.file.stem for figure in group.figures] == [
        *("fig1", "fig3_schedulers", "irregular_cells", "pairs", "recommended_sequential-readers")
    ]
    place = "Testbed: simdisk, image of 1 GiB; Disks: wd200bb, simulated; Power: modelled"
    assert group.about == place
    places = gallery.files(groups)
    assert all(file.is_file() for file in places.values())
    assert len(places) == sum(len(group.figures) for group in groups) == 6


def test_a_figure_has_the_claims_that_the_paper_rests_on_it(groups, shown):
    (figure,) = (one for group in groups for one in group.figures if one.file.stem == "fig1")
    document = plain((paths.reference() / "figures.yaml").read_text())
    (published,) = (one for one in document["figures"] if one["id"] == "nfstricks03-fig1")
    assert [claim.name for claim in figure.claims] == published["claims"]
    assert {claim.verdict for claim in figure.claims} == {"reproduced (simulated)"}
    count = len(published["claims"])
    assert f"{count} claims of the paper's figure 1: {count} {VERDICT} (simulated)" in shown
    statement = next(iter(figure.claims)).statement
    assert statement in unescape(shown)


def test_a_figure_can_be_read_and_made_by_who_sees_none(shown):
    assert 'src="../figures/nfstricks03/fig1.svg" alt="Zones &lt;of&gt; both disks."' in shown
    assert "./run notebook 70_figures -p campaign nfstricks03" in shown
    assert "./run notebook 66_interactions -p campaign nfstricks03" in shown
    assert "./run notebook 95_ledger -p study greenfs08" in shown


def test_what_was_not_made_is_named_with_the_command_that_makes_it(shown):
    assert "Not made here yet: ./run reproduce fast10-turns, then ./run docs" in shown


def test_the_notebooks_are_those_of_the_pipeline():
    stages = (paths.code() / "dvc.yaml").read_text()
    for folder, notebook in NOTEBOOKS.items():
        stage = next(one for one in re.split(r"\n  (?=\w)", stages) if f"/{folder}:\n" in one)
        assert f"fsgreen notebook {notebook} " in stage


def test_a_figure_of_the_paper_is_known_by_its_name(groups):
    numbers = {figure.file.stem: figure.number for group in groups for figure in group.figures}
    assert numbers["fig1"] == "1" and numbers["fig3_schedulers"] == "3"
    assert not numbers["pairs"] and not numbers["fig_budget"]
