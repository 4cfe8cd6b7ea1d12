"""What is left out, what is refused, and with which words."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen import recommend
from fsgreen.analysis.configuration import configuration
from fsgreen.errors import FsgreenError
from tests.recommend.choices import NOW, made, of_throughput, tables

FUZZ = settings(max_examples=round(200 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1")))))


def test_constraints_are_read_whatever_their_case_and_spacing():
    wanted = recommend.parse(["No  Reformat", " file system XFS "], ["ext3", "xfs"])
    assert wanted == recommend.Constraints(no_reformat=True, file_system="xfs")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["no reformt"], "did you mean no reformat"),
        (["file system"], "unknown constraint"),
        (["file system zfs"], "unknown file system 'zfs'"),
        (["file system xfs", "file system ext3"], "at once"),
        ([""], "Known: file system NAME, no reformat, no relaxed durability"),
    ],
)
def test_an_unknown_constraint_is_refused_with_those_there_are(texts, message):
    """A constraint that is passed over would recommend what the user ruled out."""
    with pytest.raises(FsgreenError, match=message):
        recommend.parse(texts, ["ext3", "xfs"])


WORDS = st.sampled_from(
    ["no", "reformat", "relaxed", "durability", "file", "system", "xfs", "NAME"]
)
PHRASES = st.lists(WORDS, max_size=4).map(" ".join)
KNOWN = st.sampled_from(["no reformat", "No relaxed  durability", "file system xfs"])


@FUZZ
@given(st.lists(st.text(max_size=40) | PHRASES | KNOWN, max_size=5))
def test_no_text_is_taken_for_a_constraint_that_it_is_not(texts):
    try:
        wanted = recommend.parse(texts, ["xfs"])
    except FsgreenError:
        return
    words = {" ".join(text.lower().split()) for text in texts}
    assert wanted.no_reformat == ("no reformat" in words)
    assert wanted.no_relaxed_durability == ("no relaxed durability" in words)
    assert wanted.file_system == ("xfs" if "file system xfs" in words else None)
    assert words <= {"no reformat", "no relaxed durability", "file system xfs"}


def test_constraints_leave_out_and_say_why():
    """Without mkfs there is what can be changed in place; data must not be put at risk."""
    kept = of_throughput(made("no reformat"))
    assert set(kept["change"]) == {"none", "mount", "offline"}
    assert "no journal" in kept.loc[("ext2", "default"), "risk"]
    safe = of_throughput(made("no relaxed durability"))
    assert ("ext3", "wrbck") not in safe.index
    assert ("ext2", "default") not in safe.index
    assert ("xfs", "default") in safe.index
    _, cells = tables()
    wanted = recommend.Constraints(no_reformat=True, no_relaxed_durability=True)
    admitted, refused = recommend.candidates(cells, "varmail", NOW, wanted)
    assert admitted == [configuration("ext3", "dtlg"), configuration("ext3", "noatime")]
    assert refused[configuration("ext3", "blk1k")] == "it takes a reformat"
    assert "old content" in refused[configuration("ext3", "wrbck")]


def test_constraints_that_contradict_what_there_is_are_refused():
    with pytest.raises(FsgreenError, match="cannot be xfs without a reformat"):
        made("no reformat", "file system xfs")


def test_a_file_system_that_a_command_makes_of_this_one_takes_no_reformat():
    """ext3 without its journal is ext2: to refuse it would be a false reason."""
    table = of_throughput(made("no reformat", "file system ext2"))
    assert set(table.index) == {("ext3", "default"), ("ext2", "default")}


def test_what_there_is_must_have_been_measured():
    with pytest.raises(FsgreenError, match="did you mean ext3/noatime"):
        made(now=configuration("ext3", "noatme"))
