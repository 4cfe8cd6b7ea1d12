"""trust.csv: judged from raw folders, read back with the report, and typeset."""

import argparse
import json
import os
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest
import sound_campaign
import synthetic
import typst

from fsgreen import paths, pipeline, reduce, rules
from fsgreen.analysis import numbers, standard
from fsgreen.cli import rules as rules_command
from fsgreen.errors import FsgreenError
from fsgreen.executors import entered
from fsgreen.rules import remedies, trust
from fsgreen.rules.evidence import gather
from fsgreen.rules.trust import COLUMNS
from fsgreen.trial import computed_energies, read_trial

COPY = "studies/fast10-own.yaml (first: cp -n studies/fast10.yaml studies/fast10-own.yaml)"
CHANGED = "fsgreen measure fast10-own --profile test --name small-2"
by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="analyses a shipped campaign: FSGREEN_NIGHTLY=1 ./run test tests/rules",
)


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    """The data of a campaign of six trials in two blocks, reduced and analysed."""
    data = tmp_path_factory.mktemp("analysed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(data))
        synthetic.write_raw("small", sound_campaign.make_plan(blocks=2))
        reduce.write("small")
        standard.write("small")
    return data


@pytest.fixture
def campaign(analysed, tmp_path, monkeypatch):
    """A copy of it, for a test to change."""
    shutil.copytree(analysed, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    return "small"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The results of the shipped campaign as far as the analysis makes them."""
    name = "fast10"
    pipeline.pull(name)
    folder = tmp_path_factory.mktemp("shipped")
    (folder / "raw").mkdir()
    (folder / "raw" / name).symlink_to(paths.root() / "data" / "raw" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder))
        reduce.write(name)
        standard.write(name)
        yield name


def run_command(*arguments):
    parser = argparse.ArgumentParser()
    rules_command.add(parser.add_subparsers())
    options = parser.parse_args(["rules", *arguments])
    options.run(options)


def test_every_rule_has_a_row_with_all_columns(campaign):
    table = reduce.read_table(campaign, "trust")
    assert tuple(table.columns) == COLUMNS
    assert table["rule"].tolist() == list(range(1, 53))
    assert table.notna().all(axis=None)
    assert set(table["state"]) <= set(rules.STATES)


def test_remedies_name_the_campaign(campaign):
    remedies = reduce.read_table(campaign, "trust").set_index("rule")["remedy"]
    assert "fsgreen measure fast10 --profile test --name small" in remedies[3]
    assert not remedies.str.contains("{", regex=False).any()


@pytest.mark.parametrize(
    ("testbed", "place"),
    [
        ({"kind": "loop", "in_memory": False}, ""),
        ({"kind": "loop", "in_memory": True}, " --testbed loop --in-memory"),
        ({"kind": "directory", "folder": "/mnt/x"}, " --testbed directory --folder /mnt/x"),
        ({"kind": "simdisk", "model": "a disk"}, " --testbed simdisk"),
    ],
)
def test_a_remedy_goes_on_where_the_campaign_began_with_blocks_that_suffice(
    campaign, testbed, place
):
    """On another testbed the same command is refused; two blocks are as few the second time."""
    evidence = rules.gather(campaign)
    evidence = replace(evidence, identity={**evidence.identity, "testbed": testbed})
    told = {
        number: remedies.of_measured(campaign, evidence, rules.rule(number)) for number in (4, 26)
    }
    assert told[4] == f"fsgreen measure fast10 --profile test --name small{place}"
    assert told[26] == (
        f"blocks: 5 in profile test of {COPY}, then "
        f"fsgreen measure fast10-own --profile test --name small-5{place}"
    )


def test_the_remedy_of_trials_that_are_too_short_names_the_length_that_would_do(campaign):
    evidence = rules.gather(campaign)
    told = remedies.of_measured(campaign, evidence, rules.rule(16))
    assert told.startswith(f"longer measure_s in profile test of {COPY}, then {CHANGED}")
    short = evidence.trials.assign(
        energy_j=2500.0, duration_s=10.0, error_constant_j=6.0, error_edges_j=60.0
    )
    told = remedies.of_measured(campaign, replace(evidence, trials=short), rules.rule(16))
    assert told.startswith(f"measure_s: 14 in profile test of {COPY}, then {CHANGED}")


def test_two_blocks_are_too_few_and_the_summary_says_so(campaign):
    shown = rules.summary(campaign)
    assert shown.startswith("small: can these numbers be trusted? Of 52 rules ")
    assert "26 at least five trials: fewer than 5 trials in 3 of 3 cells" in shown


def test_a_summary_says_what_to_do_about_five_rules_and_how_to_see_the_others(campaign):
    """Whoever had measured for the first time got thirteen rules, and at none what to do."""
    table = reduce.read_table(campaign, "trust")
    states = table["state"].mask(table["rule"] <= 20, "fired")
    changed = table.assign(state=states, rule=table["rule"].map("{:02d}".format))
    changed.to_csv(paths.results(campaign) / "trust.csv", index=False)
    first, *told, others, _ = rules.summary(campaign).splitlines()
    assert f"{(rules.read(campaign)['state'] == 'fired').sum()} fired" in first
    numbers = [int(line.split()[0]) for line in told[::2]]
    assert numbers == [1, 2, 3, 4, 7], "what the harness refuses first: not 5 and 6"
    assert all(line.startswith("     what to do: ") for line in told[1::2])
    assert others.startswith("  the others (")
    assert others.endswith("): fsgreen rules --campaign small")
    assert sum(map(int, re.findall(r"(\d+) [a-z]", others))) == 52 - 5


def test_what_takes_no_action_is_told_last(campaign):
    """Of two blocks the mixed model has no diagnostics, which was among the five, to do nothing."""
    table = reduce.read_table(campaign, "trust")
    no_action = table["remedy"].str.startswith(trust.NOTHING_TO_DO)
    assert list(table["rule"][no_action]) == [36]
    states = table["state"].mask(table["state"] == "fired", "quiet")
    states = states.mask(table["rule"].isin([10, 33, 36]), "fired")  # 36 alone has another mode
    changed = table.assign(state=states, rule=table["rule"].map("{:02d}".format))
    changed.to_csv(paths.results(campaign) / "trust.csv", index=False)
    told = rules.summary(campaign).splitlines()[1:-2:2]
    assert int(told[-1].split()[0]) == 36


def test_a_file_that_changed_after_the_analysis_fires(campaign):
    """Rule 22 is judged by hashing again, not by remembering that it was done once."""
    trial = next((paths.raw(campaign) / "trials").iterdir())
    (trial / "host.parquet").write_bytes(b"other bytes")
    found = rules.judge(rules.gather(campaign))[22]
    assert found.state == "fired"
    assert trial.name in found.found


def test_a_gap_in_a_trace_is_found_again(campaign):
    """Rule 13 is judged by the trace, whatever the check in the record says."""
    trial = next((paths.raw(campaign) / "trials").iterdir())
    power = pd.read_parquet(trial / "power.parquet")
    power[~power["time_s"].between(12, 16)].to_parquet(trial / "power.parquet")
    found = rules.judge(rules.gather(campaign))[13]
    assert found.state == "fired"
    assert trial.name in found.found


def test_the_state_that_a_reader_must_know_first_comes_first(campaign):
    states = rules.by_state(rules.read(campaign))["state"].tolist()
    assert list(dict.fromkeys(states)) == [state for state in rules.STATES if state in states]


def test_rules_on_the_report_are_judged_when_there_is_one(campaign):
    """trust.csv is made before the ledger, so that its row cannot know the verdicts."""
    before = rules.read(campaign).set_index("rule")
    assert before.loc[44, "state"] == "unknown"
    assert before.loc[43, "state"] in ("quiet", "fired")
    claims = pd.DataFrame({"slug": ["no_such_claim"], "verdict": ["reproduced"]})
    claims.to_csv(paths.results(campaign) / "claims.csv", index=False)
    assert rules.read(campaign).set_index("rule").loc[44, "state"] == "fired"


def test_a_table_of_another_version_says_how_to_make_it_anew(campaign):
    file = paths.results(campaign) / "trust.csv"
    file.write_text("rule,question,held,detail\n01,declared?,yes,plan\n")
    with pytest.raises(FsgreenError, match="another version") as caught:
        rules.summary(campaign)
    assert "60_analyse" in caught.value.next_step


# --- the command ---------------------------------------------------------------------------------


def test_the_list_has_source_mode_place_and_where_it_fired(campaign, capsys):
    run_command()
    shown = capsys.readouterr().out
    assert "26 E fired     Does every cell have enough trials for an interval?" in shown
    assert "source Seh, E&S, Gre, Mas; in analysis/cells.py, analysis/effects.py" in shown
    assert "-> fewer than 5 trials in 3 of 3 cells" in shown
    assert "in small: " in shown


def test_a_campaign_without_a_trial_says_so_in_a_sentence(campaign, capsys):
    """It got 52 rules of which none could be known."""
    shutil.rmtree(paths.raw(campaign) / "trials")
    run_command("--campaign", campaign)
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("small has no trial yet, so that there is nothing to judge: ")
    assert shown.endswith("fsgreen measure fast10 --profile test --name small")


def test_one_rule_is_shown_whole(campaign, capsys):
    run_command("26", "--campaign", campaign)
    shown = " ".join(capsys.readouterr().out.split())
    rule = rules.rule(26)
    for part in (rule.text, rule.question, rule.consequence, "Joukov", "small fired:"):
        assert part in shown


def test_without_a_campaign_the_catalogue_is_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    run_command()
    shown = capsys.readouterr().out
    assert "no campaign has been analysed here" in shown
    assert sum(line[:2].strip().isdigit() for line in shown.splitlines()) == 52
    run_command("27")
    assert "STUDY" in capsys.readouterr().out


def copy_as(campaign, name, begun_unix_s):
    """A campaign with results of this name, begun then, whose table is the oldest there is."""
    shutil.copytree(paths.results(campaign), paths.results(name))
    os.utime(paths.results(name) / "trust.csv", (0, 0))
    paths.raw(name).mkdir(parents=True)
    (paths.raw(name) / "campaign.json").write_text(json.dumps({"started_unix_s": begun_unix_s}))


def test_the_campaign_begun_last_is_the_one_shown(campaign):
    """The order in which files were written is that of a checkout, or of a pipeline."""
    copy_as(campaign, "newer", 1.9e9)
    copy_as(campaign, "older", 1.7e9)
    assert rules.last_campaign() == "newer"


def test_a_campaign_that_does_not_say_when_it_was_begun_is_not_the_last(campaign):
    copy_as(campaign, "older", 1.7e9)
    for text in ("{}", "no JSON", "[]", None):
        file = paths.raw(campaign) / "campaign.json"
        file.unlink() if text is None else file.write_text(text)
        assert rules.last_campaign() == "older"


def test_where_none_says_when_it_was_begun_the_last_table_counts(campaign):
    """Results that came without their raw files."""
    copy_as(campaign, "older", 1.7e9)
    for name in (campaign, "older"):
        (paths.raw(name) / "campaign.json").unlink()
    assert rules.last_campaign() == campaign


# --- the shipped campaign, and its page ----------------------------------------------------------


@by_night
def test_the_shipped_campaign_is_judged_as_its_records_say(shipped):
    """What a person found in the records by hand."""
    table = rules.read(shipped).set_index("rule")
    assert "b02-001-webserver-xfs-default-50000ops" in table.loc[3, "found"]
    assert "b02-027-fileserver-ext3-wrbck" in table.loc[11, "found"]
    assert "speed of the processor was not recorded" in table.loc[9, "found"]
    states = table["state"]
    assert states[[3, 7, 11, 27, 42, 47, 50]].eq("fired").all()
    assert states[[8, 9, 10, 15, 25, 41]].eq("unknown").all()
    assert states[[1, 2, 4, 12, 13, 14, 19, 20, 21, 22, 29, 38, 51]].eq("quiet").all()
    assert "180 of 180 cold trials" in table.loc[7, "found"]
    assert "blocks by the clock: +11.7 %, tau +0.80" in table.loc[25, "found"]
    assert "oltp 0.0065 %" in table.loc[42, "found"]
    assert states[17] == "not asked"


@pytest.mark.parametrize("of", ["campaign", pytest.param("shipped", marks=by_night)])
def test_the_page_has_three_pages_at_most(of, request, tmp_path):
    """Who has to leaf through more does not read it."""
    values = {"trust": numbers.trust(request.getfixturevalue(of))}
    (tmp_path / "numbers.json").write_text(json.dumps(values))
    for name in ("style.typ", "blocks.typ", "trust.typ"):
        shutil.copy(paths.root() / "paper" / name, tmp_path)
    page = tmp_path / "page.typ"
    page.write_text('#import "style.typ": *\n#show: report\n#dense[#include "trust.typ"]\n')
    pages = typst.compile(str(page), root=str(tmp_path), format="svg", ignore_system_fonts=True)
    assert isinstance(pages, list)
    assert len(pages) <= 1 + 3, "the title, and the three pages"


def test_traces_of_older_trials_are_checked_by_whoever_does_the_tasks(campaign):
    """A campaign without energies in its records would take one core for half as long again."""
    asked = []

    class Others:
        def each(self, task, common, items):
            asked.extend(item.name for item in items)
            return [task(common, item) for item in items]

    with entered(Others()):
        found = gather(campaign)
    assert asked == [record.trial for record in found.records]
    pd.testing.assert_frame_equal(found.power, gather(campaign).power)
    for name in asked[1:]:
        file = paths.raw(campaign) / "trials" / name / "trial.json"
        energies = computed_energies(read_trial(file.parent))
        record = replace(read_trial(file.parent).record, energy=energies)
        file.write_text(json.dumps(record.to_json()))
    with entered(Others()):
        again = gather(campaign)
    assert asked[len(found.records) :] == asked[:1], "what is recorded was computed again"
    pd.testing.assert_frame_equal(found.power, again.power)
