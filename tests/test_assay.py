"""What `fsgreen plan --assay` tells: numbers of the plan and the pilot, and what to do."""

import os
import re
from dataclasses import replace

import pytest
import synthetic

from fsgreen import assay, cli, design, paths, reduce
from fsgreen.analysis.cells import cells_table
from fsgreen.design import newstudy
from fsgreen.errors import FsgreenError

THAT_SHIP = sorted(file.stem for file in (paths.root() / "studies").glob("*.yaml"))
OF_FAST10 = synthetic.cells(["webserver"], ["ext2", "ext3", "xfs"], ["default", "noatime"])
OF_OWN = synthetic.cells(["webserver"], ["ext4", "xfs"])


def analysed(name, plan, scatter):
    """A campaign with these cells whose trials scatter so, up to its cells."""
    synthetic.write_raw(name, plan, probes={"offset": [], "queue": []})
    reduce.write(name)
    trials = synthetic.trials_frame(plan.cells, plan.profile.blocks, scatter=scatter)
    reduce.write_table(trials, name, "trials")
    reduce.write_table(cells_table(trials, synthetic.BOUNDS), name, "cells")


@pytest.fixture(scope="module")
def pilots(tmp_path_factory):
    """A pilot of fast10, and one of a study of one's own."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("own")
        patch.setenv("FSGREEN_DATA", str(folder / "data"))
        patch.setattr(
            paths,
            "new_study",
            lambda name, was=paths.new_study: (
                folder / f"{name}.yaml" if name == "mine" else was(name)
            ),
        )
        newstudy.write("mine")
        analysed("of-fast10", synthetic.make_plan(OF_FAST10, 5), 0.08)
        analysed("of-mine", synthetic.make_plan(OF_OWN, 5, study="mine"), 0.03)
        yield


def told(study, cells, blocks, pilot=None):
    plan = synthetic.make_plan(cells, blocks, study=study)
    return "\n".join(assay.lines(design.load_study(study), plan, pilot))


@pytest.mark.usefixtures("pilots")
def test_a_plan_of_a_paper_says_what_it_decides_and_how_to_buy_more():
    text = told("fast10", OF_FAST10, 5)
    assert "the scatter of trials is that of of-fast10" in text
    decided = re.search(r"(\d+) of (\d+) parts? of claims with two ends", text)
    assert decided and int(decided[2]) >= 1
    rows = [
        (int(blocks), int(count))
        for blocks, count in re.findall(r"^ +(\d+) blocks +(\d+) of", text, re.MULTILINE)
    ]
    assert {5, 10, 20, 40, 80} <= {blocks for blocks, _ in rows}
    assert rows[0][1] == int(decided[1])
    assert [count for _, count in rows] == sorted(count for _, count in rows)
    assert "parts: too few blocks:" in text or "part: too few blocks:" in text
    assert "web_ext3_xfs" in text
    assert "cells that take turns in windows: up to" in text
    assert "cells that claims name and this plan lacks" in text
    assert "time: about" in text


@pytest.mark.usefixtures("pilots")
def test_a_study_without_claims_is_told_the_smallest_difference():
    text = told("mine", OF_OWN, 10)
    assert "webserver throughput: " in text and "webserver efficiency: " in text
    smallest = [
        float(low) for low in re.findall(r"blocks +([\d.]+) to [\d.]+ %", text, re.MULTILINE)
    ]
    assert len(smallest) == 5 and smallest == sorted(smallest, reverse=True)


def test_without_a_pilot_it_says_how_to_make_one(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    text = told("fast10", OF_FAST10, 5)
    assert "the scatter of its trials is not known: ./run reproduce" in text
    assert re.search(r"parts? of claims with two ends have a power of 0.8 with intervals of", text)
    assert "time: at least" in text


@pytest.mark.usefixtures("pilots")
def test_a_pilot_of_another_study_is_refused():
    with pytest.raises(FsgreenError, match="of-mine is a campaign of mine"):
        told("fast10", OF_FAST10, 5, "of-mine")


@pytest.mark.usefixtures("pilots")
def test_cells_that_no_claim_names_are_offered_as_time():
    more = [*OF_FAST10, *synthetic.cells(["webserver"], ["btrfs"])]
    found = re.search(
        r"without the 1 cell that no selector .* (\d+) blocks", told("fast10", more, 30)
    )
    assert found and int(found[1]) > 30


@pytest.mark.usefixtures("pilots")
def test_too_few_blocks_for_an_interval_have_no_power():
    assert "0 of" in told("fast10", OF_FAST10, 2)
    sequential = synthetic.make_plan(OF_FAST10, 5)
    sequential = replace(sequential, profile=replace(sequential.profile, most_blocks=10))
    text = "\n".join(assay.lines(design.load_study("fast10"), sequential, "of-fast10"))
    assert "this holds for 5 blocks, the least for each cell" in text


@pytest.mark.parametrize("study", THAT_SHIP)
def test_every_profile_of_every_study_says_what_it_can_decide(study, tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    loaded = design.load_study(study)
    by_day, by_night = 4, 1
    step = by_night if "FSGREEN_NIGHTLY" in os.environ else by_day
    for profile in list(loaded.profiles)[::step]:
        first, *others = assay.lines(loaded, design.make_plan(loaded, profile))
        assert f"{study}, profile {profile}: what" in first and others


def test_the_command_shows_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    assert cli.main(["plan", "fast10", "--assay"]) == 0
    shown = capsys.readouterr().out
    assert "fast10, profile quick: what 2 blocks of 8 cells can decide" in shown
    assert all(len(line) <= 100 for line in shown.splitlines())
