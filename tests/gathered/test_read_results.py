"""Files that others sent: whatever they hold, the answer is a table or an error that helps."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import gathered
from fsgreen.errors import FsgreenError
from fsgreen.gathered import document
from fsgreen.gathered.pools import tables

WHERE = Path("theirs.json")

numbers = st.integers() | st.floats() | st.sampled_from([0, -1, 1e-320, 1e300, 2**70])
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@pytest.fixture(scope="session")
def whole(sent):
    """A sound file as values."""
    return json.loads(sent[0].text())


def sealed(values):
    """The bytes of a file with these values and the digest that fits, as the page has it."""
    rest = {name: value for name, value in values.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return json.dumps({**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode()


def refusal(held):
    with pytest.raises(FsgreenError) as caught:
        document.parsed(held, WHERE)
    assert caught.value.where == "theirs.json"
    assert caught.value.next_step
    return caught.value.what


def places(value, at=()):
    """Every place in a value, from its top down."""
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*at, key))


def changed(value, at, to):
    """The value with something else at a place."""
    if not at:
        return to
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], to)
    return copy


def test_a_sound_file_is_read(sent, whole):
    assert document.parsed(sealed(whole), WHERE) == sent[0]


@given(held=st.binary(max_size=200))
def test_garbage_is_refused(held):
    assert refusal(held).startswith("not a file of results")


@given(data=st.data())
def test_a_byte_that_changed_is_seen(whole, data):
    """A mail program that wraps lines, a disk that fails, a hand that mends a number."""
    held = sealed(whole)
    at = data.draw(st.integers(0, len(held) - 1))
    other = data.draw(st.binary(max_size=2))
    try:
        results = document.parsed(held[:at] + other + held[at + 1 :], WHERE)
    except FsgreenError:
        return
    assert results.text().encode() == document.parsed(held, WHERE).text().encode()


@given(data=st.data())
def test_whoever_knows_the_digest_can_lie_and_break_nothing(sent, whole, data):
    """What is read can be pooled and shown, or was refused."""
    at = data.draw(st.sampled_from([*places(whole)]))
    values = changed(whole, at, data.draw(anything))
    if not isinstance(values, dict):
        return
    try:
        results = document.parsed(sealed(values), WHERE)
    except FsgreenError as error:
        assert str(error).replace("\n", "").isprintable()
        return
    both = [sent[1], results]
    each, together = tables(both)
    files = [Path("mine.json"), WHERE]
    shown = gathered.lines(gathered.Gathered(files, both, each, together))
    assert all(line.isprintable() for line in shown)


@pytest.mark.parametrize(
    ("at", "to", "said"),
    [
        (("format",), "another", "its format is 'fsgreen results'"),
        (("schema",), 3, "a newer fsgreen wrote this file: its schema is 3"),
        (("schema",), [1], "no fsgreen wrote its schema"),
        (("effects", 0, "ratio", "x"), "much", "effects.0.ratio.x: takes a number"),
        (("effects", 0, "of"), {"file_system": "\x1b[2J"}, "not as fsgreen wrote it"),
        (("effects", 0, "ratio"), {"x": 1.0, "low": 0.9, "high": None}, "has two ends"),
        (("effects", 0, "ratio"), {"x": 1.0, "low": 9.0, "high": 2.0}, "begins at its lower end"),
        (("effects", 0, "ratio"), {"x": -1.0, "low": -2.0, "high": 0.5}, "above 0"),
        (("machine", "owner"), "alice", "unknown key owner"),
        (("testbeds_count",), 0, "testbeds_count"),
    ],
)
def test_what_is_wrong_is_said(whole, at, to, said):
    values = json.loads(json.dumps(whole))
    inside = values
    for step in at[:-1]:
        inside = inside[step]
    inside[at[-1]] = to
    assert said in refusal(sealed(values))


def test_a_comparison_that_stands_there_twice_is_no_second_machine(whole):
    values = json.loads(json.dumps(whole))
    values["effects"].append(values["effects"][0])
    assert "a comparison stands in it twice" in refusal(sealed(values))


def test_a_number_that_somebody_mended_is_seen(whole):
    values = json.loads(json.dumps(whole))
    values["effects"][0]["ratio"]["x"] = 2.0
    assert "it was edited" in refusal(json.dumps(values).encode())


def test_half_a_file_is_damaged_and_no_other_one(sent):
    held = sent[0].text().encode()
    assert "its end is missing" in refusal(held[: len(held) // 2])


def test_a_deep_nest_and_a_large_file_are_refused():
    assert "not JSON" in refusal(b"[" * 100_000)
    assert "MiB" in refusal(b" " * (document.MOST_B + 1))


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FsgreenError, match="cannot be read"):
        gathered.read(tmp_path / "nobody.json")
    with pytest.raises(FsgreenError, match="cannot be read"):
        gathered.read(tmp_path)
