"""Errors must tell a user what to type next."""

from fsgreen.errors import FsgreenError, unknown


def test_message_says_what_where_and_next() -> None:
    error = FsgreenError("the disk is full", where="/data", next_step="free some space")
    assert str(error) == "the disk is full\n  where: /data\n  next:  free some space"


def test_a_misspelt_name_gets_the_nearest_one_suggested() -> None:
    error = unknown("option", "noatme", ["noatime", "notail"])
    assert error.what == "unknown option 'noatme', did you mean noatime? Known: noatime, notail."


def test_a_name_like_no_other_gets_the_list() -> None:
    assert unknown("option", "zzz", ["b", "a"]).what == "unknown option 'zzz'. Known: a, b."
