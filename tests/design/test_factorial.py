"""Factorial designs: what is run, what is aliased, and that both are what the books say."""

import itertools
import math
from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import cli, design, paths
from fsgreen.design.cell import cells_of
from fsgreen.design.combinations import describe, factorials_of, find_factorials
from fsgreen.design.factorial import Factorial, alias_text, declared_options, fractional, options_on
from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems

LETTERS = "ABCDEFGH"
GENERATED = [(count, resolution) for count in range(2, 9) for resolution in (4, 5)]
EACH = pytest.mark.parametrize(("count", "resolution"), GENERATED)

TABLE = {
    (4, 4): (8, ("ABCD",)),
    (5, 4): (16, ("ABCDE",)),
    (6, 4): (16, ("ABCE", "BCDF")),
    (7, 4): (16, ("ABCE", "BCDF", "ACDG")),
    (8, 4): (16, ("BCDE", "ACDF", "ABCG", "ABDH")),
    (5, 5): (16, ("ABCDE",)),
    (6, 5): (32, ("ABCDEF",)),
    (7, 5): (64, ("ABCDEFG",)),
    (8, 5): (64, ("ABCDG", "ABEFH")),
}
"""Runs and generators of the table of fractions in Box, Hunter & Hunter, as words."""


def sign(run: frozenset[str], term: tuple[str, ...]) -> int:
    """A term's column in a run, its levels coded -1 and +1."""
    return math.prod(1 if option in run else -1 for option in term)


def products(words: tuple[str, ...]) -> list[set[str]]:
    """All words that a table's generators make."""
    made: list[set[str]] = [set()]
    for word in words:
        made += [known ^ set(word) for known in made]
    return made[1:]


@pytest.mark.parametrize("key", TABLE)
def test_fractions_are_as_small_and_as_clear_as_the_printed_ones(key: tuple[int, int]) -> None:
    runs, generators = TABLE[key]
    made = fractional(LETTERS[: key[0]], key[1])
    assert len(made.runs) == runs
    assert Counter(map(len, made.words)) == Counter(map(len, products(generators)))


@pytest.mark.parametrize(("count", "resolution"), [(2, 4), (3, 4), (2, 5), (3, 5), (4, 5)])
def test_where_no_fraction_is_clear_enough_the_full_design_is_run(
    count: int, resolution: int
) -> None:
    made = fractional(LETTERS[:count], resolution)
    assert (made.words, made.resolution, len(made.runs)) == ((), None, 2**count)


@EACH
def test_each_option_is_on_in_half_of_the_runs_whatever_the_others_are(
    count: int, resolution: int
) -> None:
    """Any `resolution - 1` options show all their combinations equally often: no effect of one is
    seen through another."""
    made = fractional(LETTERS[:count], resolution)
    strength = min(count, (made.resolution or count + 1) - 1)
    for chosen in itertools.combinations(made.options, strength):
        counts = Counter(frozenset(chosen) & run for run in made.runs)
        assert len(counts) == 2**strength
        assert len(set(counts.values())) == 1


@EACH
def test_aliases_are_the_equal_columns_and_all_other_columns_are_orthogonal(
    count: int, resolution: int
) -> None:
    made = fractional(LETTERS[:count], resolution)
    terms = [term for size in (1, 2) for term in itertools.combinations(made.options, size)]
    columns = {term: [sign(run, term) for run in made.runs] for term in terms}
    for one, other in itertools.combinations(terms, 2):
        product = sum(a * b for a, b in zip(columns[one], columns[other], strict=True))
        signs = dict((alias, way) for way, alias in made.aliases(one))
        assert product == len(made.runs) * signs.get(other, 0)
    for term in terms:
        for way, alias in made.aliases(term):
            assert [way * sign(run, alias) for run in made.runs] == columns[term]


@EACH
def test_resolution_keeps_its_promise(count: int, resolution: int) -> None:
    made = fractional(LETTERS[:count], resolution)
    singles = [(option,) for option in made.options]
    pairs = list(itertools.combinations(made.options, 2))
    assert all(made.clear(term) for term in singles)
    assert all(map(made.clear, pairs)) == (resolution == 5 or not made.words or count == 5)


@EACH
def test_terms_name_every_contrast_once_and_every_pair(count: int, resolution: int) -> None:
    made = fractional(LETTERS[:count], resolution)
    contrasts = {
        frozenset({term, *(alias for _, alias in made.aliases(term))}) for term in made.terms
    }
    assert len(contrasts) == len(made.runs) - 1
    assert set(made.terms) >= set(itertools.combinations(made.options, 2))


def test_the_half_of_four_options_by_hand() -> None:
    """D = ABC: A with BCD, AB with CD, AC with BD, AD with BC; the even combinations are run."""
    half = fractional("ABCD", 4)
    assert half.words == (("A", "B", "C", "D"),)
    assert half.runs == tuple(map(frozenset, ("", "AB", "AC", "BC", "AD", "BD", "CD", "ABCD")))
    found = {"".join(t): alias_text(half, t) for t in half.terms}
    assert found == {
        **{"A": "B:C:D", "B": "A:C:D", "C": "A:B:D", "D": "A:B:C"},
        **{"AB": "C:D", "AC": "B:D", "AD": "B:C", "BC": "A:D", "BD": "A:C", "CD": "A:B"},
    }


def test_odd_words_alias_with_the_opposite_sign() -> None:
    """With `default` among the runs, E = -ABCD."""
    assert alias_text(fractional("ABCDE", 4), ("A", "B")) == "-C:D:E"


def test_a_full_design_of_three_aliases_nothing() -> None:
    full = Factorial(("A", "B", "C"))
    assert [len(term) for term in full.terms] == [1, 1, 1, 2, 2, 2, 3]
    assert not any(full.aliases(term) for term in full.terms)


# --- as a study declares them ----------------------------------------------------------------


def test_a_declared_factorial_becomes_cells_with_combined_options() -> None:
    levels = yaml.safe_load(
        "{workload: [varmail], factorial: {options: [blk2k, agcnt64]}, file_system: [xfs, ext4]}"
    )
    assert [cell.label for cell in cells_of(levels)] == [
        f"varmail-{file_system}-{option}"
        for option in ("default", "blk2k", "agcnt64", "blk2k+agcnt64")
        for file_system in ("xfs", "ext4")
    ]


def test_options_that_exclude_each_other_are_levels_of_one_factor() -> None:
    runs = declared_options({"options": [["blk1k", "blk2k"], "noatime"]})
    assert runs == (
        *("default", "blk1k", "blk2k"),
        *("noatime", "blk1k+noatime", "blk2k+noatime"),
    )
    assert all(filesystems.recipe("xfs", run) for run in runs)


def test_two_block_sizes_as_two_options_are_refused_with_the_reason() -> None:
    """The check of a plan asks for the recipe of every cell before anything is formatted."""
    runs = declared_options({"options": ["blk1k", "noatime", "blk2k"]})
    with pytest.raises(FsgreenError, match="blk1k and blk2k exclude each other: both set block"):
        for run in runs:
            filesystems.recipe("xfs", run)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"options": ["noatime"]}, "here are 1"),
        ({"options": list("abcdefghi")}, "here are 9"),
        ({"options": []}, "here are 0"),
        ({"options": "noatime"}, "here are 0"),
        ({}, "here are 0"),
        ({"options": [["blk1k", "blk2k"], []]}, "here are 2"),
        ({"options": ["noatime", "noatime"]}, "noatime stands twice"),
        ({"options": [["blk1k", "noatime"], "noatime"]}, "noatime stands twice"),
        ({"options": ["default", "noatime"]}, "single options, not 'default'"),
        ({"options": ["blk2k+agcnt64", "noatime"]}, "single options, not 'blk2k"),
        ({"options": ["noatime", 64]}, "single options, not 64"),
        ({"options": [["noatime", ["x"]], "y"]}, "single options"),
        ({"options": ["a", "b"], "fraction": "III"}, "unknown fraction 'III'"),
        ({"options": ["a", "b"], "fractions": "IV"}, "did you mean fraction"),
        ({"options": [["a", "b"], "c", "d", "e"], "fraction": "IV"}, "not lists"),
    ],
)
def test_a_declaration_that_is_none_is_refused(declared: dict, message: str) -> None:
    with pytest.raises(FsgreenError, match=message):
        declared_options(declared)


def test_a_matrix_has_options_or_a_factorial() -> None:
    levels = {"option": ["default"], "factorial": {"options": ["a", "b"]}}
    with pytest.raises(FsgreenError, match="says what the options are"):
        list(cells_of(levels))


def test_the_plan_of_the_shipped_campaign_is_still_its_plan() -> None:
    assert design.make_plan(design.load_study("fast10"), "lab").hash.startswith("c6f99b137dad")


def test_a_study_with_a_factorial_is_planned_in_complete_blocks(tmp_path) -> None:
    text = yaml.safe_load(paths.study("fast10").read_text())
    text["matrices"]["combined"] = {
        "workload": ["varmail"],
        "file_system": ["xfs"],
        "factorial": {"options": ["noatime", "blk2k", "agcnt8", "isz1k"], "fraction": "IV"},
    }
    text["profiles"]["quick"]["matrices"].append("combined")
    (tmp_path / "fast10.yaml").write_text(yaml.safe_dump(text))
    plan = design.make_plan(design.read_study(tmp_path / "fast10.yaml"), "quick")
    assert len(plan.cells) == 8 + 7, "the default is there already"
    ((default, found),) = factorials_of(plan.cells)
    assert default == design.Cell(workload="varmail", file_system="xfs")
    assert (found.options, found.resolution) == (("noatime", "blk2k", "agcnt8", "isz1k"), 4)
    assert "  noatime:blk2k cannot be told from agcnt8:isz1k" in describe(plan.cells)


# --- as they are found among cells -------------------------------------------------------------


@given(st.permutations(list(LETTERS)), st.integers(2, 8), st.sampled_from(["full", "IV", "V"]))
def test_a_declared_design_is_found_among_cells_with_one_option_each(names, count, fraction):
    """The plan holds cells only, and often the options one at a time as well."""
    names = names[:count]
    declared = {"options": names, "fraction": fraction}
    runs = declared_options(declared)
    for cells in (runs, (*reversed(runs), *names, "other")):
        (found,) = find_factorials(list(dict.fromkeys(cells)))
        assert set(found.runs) == set(map(options_on, runs))
        assert set(found.options) == set(names)


def test_the_order_of_the_options_is_that_of_the_declaration() -> None:
    for fraction in ("full", "IV", "V"):
        runs = declared_options({"options": list("ZYXWV"), "fraction": fraction})
        (found,) = find_factorials(sorted(runs))
        assert found.options == tuple("ZYXWV")


def test_a_combination_beside_its_options_is_a_design_without_being_declared() -> None:
    """fast10's own blk2k+agcnt64."""
    plan = design.make_plan(design.load_study("fast10"), "full")
    found = factorials_of(plan.cells)
    assert {default["file_system"] for default, _ in found} == {"xfs"}
    assert {made.options for _, made in found} == {("blk2k", "agcnt64")}
    assert describe(plan.cells) == [
        "factorial of fileserver-xfs, oltp-xfs, varmail-xfs, webserver-xfs:",
        "  blk2k, agcnt64: all 4 combinations, nothing is aliased",
    ]


def test_a_factor_of_three_levels_is_found_as_its_pairs_of_levels() -> None:
    runs = declared_options({"options": [["blk1k", "blk2k"], "noatime", "isz1k"]})
    found = find_factorials(runs)
    assert sorted(made.options for made in found) == [
        ("blk1k", "noatime", "isz1k"),
        ("blk2k", "noatime", "isz1k"),
    ]
    assert not any(made.words for made in found)


@pytest.mark.parametrize(
    "cells",
    [
        [],
        ["default"],
        ["default", "noatime", "blk2k"],
        ["noatime", "blk2k", "noatime+blk2k"],
        ["default", "a+b", "a+c", "b+c"],
        ["default", "a+b"],
        ["default", "a", "b", "a+c"],
    ],
    ids=["nothing", "default", "one at a time", "no default", "resolution III", "two as one", "c"],
)
def test_what_cannot_tell_single_options_apart_is_no_design(cells: list[str]) -> None:
    assert find_factorials(cells) == []


def test_each_combination_belongs_to_one_design() -> None:
    """Two declared designs that share an option are both found, and no others."""
    one = declared_options({"options": ["a", "b", "c"]})
    other = declared_options({"options": ["c", "d"]})
    found = find_factorials([*one, *other])
    assert [made.options for made in found] == [("a", "b", "c"), ("c", "d")]


def test_options_in_two_orders_are_one_design() -> None:
    (found,) = find_factorials(["default", "a", "b", "c", "a+b", "c+b", "c+a", "a+b+c"])
    assert set(found.options) == {"a", "b", "c"}


def test_designs_of_two_loads_are_two() -> None:
    runs = declared_options({"options": ["a", "b"]})
    cells = [
        design.Cell(workload="varmail", file_system="xfs", option=run, load_ops_s=load)
        for run in runs
        for load in (None, 100.0)
    ]
    assert [default.get("load_ops_s") for default, _ in factorials_of(cells)] == [None, 100.0]


def test_the_plan_command_refuses_options_that_exclude_each_other(tmp_path, capsys) -> None:
    """Before a campaign is begun, not on its first trial."""
    text = yaml.safe_load(paths.study("fast10").read_text())
    text["matrices"]["exclusive"] = {
        "workload": ["webserver"],
        "file_system": ["xfs"],
        "factorial": {"options": ["blk1k", "blk2k"]},
    }
    file = tmp_path / "fast10.yaml"
    file.write_text(yaml.safe_dump(text))
    assert cli.main(["plan", str(file)]) == 1
    assert "blk1k and blk2k exclude each other" in capsys.readouterr().err
