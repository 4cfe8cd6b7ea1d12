"""The rules as data: whole, in order, and true about the code that they name."""

import re

import pytest
import yaml

from fsgreen import cli, paths, rules
from fsgreen.errors import FsgreenError
from fsgreen.rules.trust import JUDGES, OF_REPORT

EACH = pytest.mark.parametrize("rule", rules.rules().values(), ids=lambda rule: str(rule.number))
GROUPS = {
    "design": range(1, 7),
    "state": range(7, 13),
    "power": range(13, 23),
    "steadiness": range(23, 29),
    "summaries": range(29, 35),
    "comparison": range(35, 39),
    "confounds": range(39, 43),
    "reporting": range(43, 45),
    "deciding": range(45, 53),
}


def test_there_are_52_in_their_groups():
    assert [rule.number for rule in rules.rules().values()] == list(range(1, 53))
    for group, numbers in GROUPS.items():
        assert [rule.number for rule in rules.rules().values() if rule.group == group] == [*numbers]


def test_each_has_one_judge():
    assert sorted([*JUDGES, *OF_REPORT]) == list(rules.rules())


@EACH
def test_a_rule_is_whole(rule):
    assert rule.mode in rules.MODES
    assert rule.question.endswith("?")
    assert rule.text.endswith(".")
    assert rule.consequence.endswith(".")
    assert len(rule.name) <= 26, "the name has its place in a list"
    assert set(rule.sources) <= set(rules.sources())


@EACH
def test_the_files_that_keep_a_rule_are_there(rule):
    """A reader who follows the name of a file must find it."""
    assert rule.where
    for file in rule.where:
        place = paths.root() / "fsgreen" / file
        assert place.exists() or place.with_suffix(".py").is_file()


@EACH
def test_the_commands_of_a_remedy_exist(rule):
    """A remedy that ends in `unknown command` is none."""
    remedy = rule.remedy.format(**rules.ANY)
    commands = re.findall(r"\bfsgreen ([a-z-]+)", remedy)
    for command in commands:
        with pytest.raises(SystemExit) as left:
            cli.main([command, "--help"])
        assert left.value.code == 0
    for option in re.findall(r"notebook (\w+)", remedy):
        assert (paths.notebooks() / f"{option}.ipynb").is_file()
    for page in re.findall(r"docs/[\w/]+\.md", remedy):
        assert (paths.root() / page).is_file()


def test_no_source_stands_there_unused():
    used = {source for rule in rules.rules().values() for source in rule.sources}
    assert used == set(rules.sources())


def test_an_unknown_rule_says_what_there_is():
    with pytest.raises(FsgreenError, match="numbered 1 to 52"):
        rules.rule(53)


def test_the_guide_lists_the_rules_as_the_catalogue_has_them():
    """docs/trust.md cannot drift: its table is made of the catalogue."""
    text = (paths.root() / "docs" / "trust.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\w) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    told = [(int(number), *cells) for number, *cells in rows]
    assert told == [
        (
            rule.number,
            rule.mode,
            rule.question,
            ", ".join(rule.sources),
        )
        for rule in rules.rules().values()
    ]
    for name, paper in rules.sources().items():
        assert f"{name}: {paper}" in text


def test_the_catalogue_is_plain_data():
    """It can be read by whoever wants the rules without the code."""
    file = paths.root() / "fsgreen" / "rules" / "catalogue.yaml"
    assert set(yaml.safe_load(file.read_text())) == {"sources", "rules"}
