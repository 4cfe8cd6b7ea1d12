"""The paper over all studies: what a reader sees of each, and of which campaign."""

import json
import re

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fsgreen import article, exhibits, figures, ledger, paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import write_csv
from tests import synthetic
from tests.parts_of_claims import part_of_a_campaign

SLUG = "web_ext3_xfs"
PART = "webserver throughput: ext3/default over xfs/default"
ANOTHER = "webserver throughput: ext3/dtlg over xfs/default"
FIGURES = [
    {"file": "fig_options.svg", "caption": "Options, then and now."},
    {"file": "fig2.svg", "caption": "One that the paper has no room for."},
]


@pytest.fixture(scope="module", autouse=True)
def made(tmp_path_factory):
    """The paper with one campaign of fast10, and none of the other studies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setattr(paths, "ships", lambda name: name == "one")
        patch.setattr(paths, "has_campaign", lambda study: study == "fast10")
        rows = [
            part_of_a_campaign(log, 0.01, slug=SLUG, part=part, published="-22 %", needs="")
            for log, part in ((0.0, PART), (0.1, ANOTHER))
        ]
        told = pd.DataFrame(rows).assign(campaign="one")
        write_csv(told, paths.told("fast10", "one", shipped=True))
        for study in ("fast10", "greenfs08", "sun14"):  # the others have none
            ledger.write(study)
        cells = synthetic.cells(("varmail",), ("ext4", "xfs"))
        synthetic.write_raw("one", synthetic.make_plan(cells))
        for entry in FIGURES:
            figure = figures.new(1.0)
            figure.add_subplot()
            name = entry["file"].removesuffix(".svg")
            figures.save(figure, paths.results("one") / "figures", name)
        claims = pd.DataFrame({"slug": ["oltp_blk2k"], "needs": ["a disk; a meter at the wall"]})
        write_csv(claims, paths.results("one") / "claims.csv")
        patch.setattr(exhibits, "read_table", lambda *_: claims)
        exhibits.keep("one", numbers())
        yield article.write()


def numbers():
    """What the report of a campaign has of itself."""
    return {
        "campaign": "one",
        "boundary": "modelled",
        "simulated_disk": None,
        "testbed": "loop",
        "setup": [
            ["Testbed", "loop, image of 1 GiB on disk"],
            ["Scale", "varmail 0.5 of the published"],
        ],
        "trials": {"whole": 10, "cells": 2},
        "not_run": [
            "reiserfs: the kernel has it no longer",
            "3 planned trials are missing: a, b, c",
        ],
        "figures": FIGURES,
    }


def sections_of(folder):
    """What the paper says of each study."""
    return json.loads((folder / "numbers.json").read_text())["sections"]


def shown(folder):
    """The text of the page in a browser, without its pictures, styles and tags."""
    page = (folder / "article.html").read_text()
    page = re.sub(r"<style>.*?</style>|base64,[^\"]*", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_each_study_has_question_answer_evidence_and_limits_in_this_order(made):
    text = shown(made)
    title = "Evaluating Performance and Energy in File System Server Workloads"
    study = text.partition(title)[2]
    study = study.partition("NFS Tricks and Benchmarking Traps")[0]
    places = [study.index(f" {part} ") for part in ("Question", "Answer", "Evidence", "Limits")]
    assert places == sorted(places)
    assert "Which file system and option does most work per joule" in study
    assert "On the web workload Ext3 is 22 % behind XFS." in study


def test_a_figure_says_campaign_device_scale_and_boundary(made):
    assert (
        "Options, then and now. campaign one on loop, image of 1 GiB on disk; share of the "
        "published size: varmail 0.5; power: modelled" in shown(made)
    )
    page = (made / "article.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 1, "the page is whole without other files"
    assert 'alt="Options, then and now."' in page


def test_a_study_without_a_campaign_has_what_print_and_models_decide_and_what_it_waits_for(made):
    sections = {one["study"]: one for one in sections_of(made)}
    papers = ["fast10", "nfstricks03", "massie25", "sun14", "greenfs08"]
    own = ["linux-read-ahead", "linux-io-uring", "linux-nfs"]
    assert list(sections) == [*papers, *own], "the project's own come last"
    for study in ("nfstricks03", "massie25", "sun14", "greenfs08"):
        assert not sections[study]["campaigns"]
        modelled = {"models"} if study in ("sun14", "greenfs08") else set()
        assert {row["kind"] for row in sections[study]["counts"]} == {"published", *modelled}
        assert sections[study]["needs"]
    for row in sections["sun14"]["counts"]:
        assert row["total"] == row["yes"] + row["part"] + row["no"] + row["open"] > 0


def test_claims_are_counted_once(made):
    for one in sections_of(made):
        decided = sum(row["total"] for row in one["counts"])
        assert decided + one["constructed"] + one["elsewhere"] + one["untested"] == one["claims"]


def test_each_number_of_a_claim_says_which_part_it_is_of(made):
    """A cell had several numbers one after the other, and no word of what each was."""
    fast10, *_ = sections_of(made)
    (row,) = fast10["decided"]
    lines = ["ext3/default over xfs/default: 1x", "ext3/dtlg over xfs/default: 1.11x"]
    assert row["ours"].split("; ") == lines
    assert " ".join(lines) in shown(made)


def test_limits_name_what_was_left_out_and_not_every_missing_trial(made):
    text = shown(made)
    assert "reiserfs: the kernel has it no longer 3 planned trials are missing" in text
    assert "a, b, c" not in text


def test_the_same_ledgers_give_the_same_bytes(made):
    before = {file.name: file.read_bytes() for file in made.iterdir()}
    assert before["article.pdf"].startswith(b"%PDF")
    article.write()
    assert {file.name: file.read_bytes() for file in made.iterdir()} == before


def test_a_campaign_gives_only_the_figures_that_the_paper_shows():
    folder = paths.exhibits("fast10") / "one"
    assert {file.name for file in folder.iterdir()} == {"about.json", "fig_options.svg"}


def test_a_copy_to_try_things_on_gives_nothing(monkeypatch):
    """What a person tries in JupyterLab may not reach what ships."""
    monkeypatch.setattr(paths, "results", lambda name: paths.data() / "scratch" / name)
    assert exhibits.keep("one", numbers()) is None


def test_a_report_that_is_missing_is_named():
    """A paper that left a campaign out would not say so."""
    about = paths.exhibits("fast10") / "one" / "about.json"
    text = about.read_text()
    about.unlink()
    try:
        with pytest.raises(FsgreenError, match="the report of one has not been made"):
            article.write()
    finally:
        about.write_text(text)


def test_a_figure_with_nothing_to_show_is_left_out(tmp_path):
    figures.save(figures.empty(figures.new(1.0), "Nothing was measured."), tmp_path, "none")
    figure = Figure()
    figure.add_subplot()
    figures.save(figure, tmp_path, "some")
    entries = [{"file": "none.svg", "caption": ""}, {"file": "some.svg", "caption": ""}]
    assert exhibits.shown(entries, tmp_path) == entries[1:]


def test_the_text_of_the_paper_is_declared_for_studies_that_there_are():
    known = {file.stem for file in (paths.root() / "studies").glob("*.yaml")}
    assert set(exhibits.declared()) <= known
