"""Files that people write: every fault is told with its line, and nothing is misread."""

from pathlib import Path

import pytest

from fsgreen import schema
from fsgreen.errors import FsgreenError
from fsgreen.schema import Count, Declared, Fault, NotNegative, Positive


class Phases(Declared):
    measure_s: Positive
    warmup_s: NotNegative = 0


class Entry(Declared):
    blocks: Count
    phases: Phases
    scale: dict[str, Positive] = {}  # noqa: RUF012
    on: tuple[str, ...] = ()


def read(tmp_path: Path, text: str, name: str = "file.yaml") -> schema.Document:
    file = tmp_path / name
    file.write_text(text)
    return schema.read(file, "entry", "mend it")


def test_words_that_yaml_1_1_takes_for_booleans_are_words(tmp_path: Path) -> None:
    """`on:` as a key was read as True, and a verdict was silently left out."""
    document = read(tmp_path, "blocks: 1\nphases: {measure_s: 1}\non: [yes, off]\n")
    assert document.as_(Entry).on == ("yes", "off")
    assert read(tmp_path, "a: true\nb: False\n").values == {"a": True, "b": False}


def test_numbers_stay_the_integers_or_floats_that_they_are(tmp_path: Path) -> None:
    """The hash of a plan tells 5 from 5.0."""
    entry = read(tmp_path, "blocks: 2\nphases: {measure_s: 5}\n").as_(Entry)
    assert type(entry.phases.measure_s) is int


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("blocks: 1\nphases: {measure_s: 3s}\n", "line 2: phases.measure_s: takes a number above"),
        ("blocks: 1\nphases: {measure_s: -3}\n", "line 2: phases.measure_s: takes a number above"),
        ("blocks: yes\nphases: {measure_s: 3}\n", "line 1: blocks: takes a whole number"),
        ("blocks: true\nphases: {measure_s: 3}\n", "line 1: blocks: takes a whole number"),
        ("blocks: 1\nphases: {measure_s: .nan}\n", "line 2: phases.measure_s: takes a number"),
        (
            "blocks: 1\nphases:\n  measure_s: 3\n  warmpu_s: 1\n",
            "line 4: unknown key warmpu_s, did you",
        ),
        ("blocks: 1\n", "line 1: the key phases is missing"),
        ("blocks: 1\nphases: {measure_s: 1}\nscale:\n  web: 0\n", "line 4: scale.web: takes"),
        ("blocks: 1\nblocks: 2\n", "line 1: the key blocks stands there twice"),
        ("[1, 2]\n", "line 1: the file"),
        ("", "line 1: the file"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(FsgreenError) as caught:
        read(tmp_path, text).as_(Entry)
    line, _, what = told.partition(": ")
    assert what in caught.value.what
    assert str(caught.value.where).endswith(f":{line.removeprefix('line ')}")


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError) as caught:
        read(tmp_path, "blocks: 0\nphases: {measure_s: 0}\ncolour: red\n").as_(Entry)
    assert "for 3 reasons" in caught.value.what
    assert str(caught.value.where).endswith("file.yaml:1")


@pytest.mark.parametrize("text", ["a: [1\n", "a: b: c\n", "\tx: 1\n", "a: *nowhere\n", "%\n"])
def test_broken_yaml_is_an_error_with_a_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match=r"not YAML: line [0-9]+, column") as caught:
        read(tmp_path, text)
    assert "Mark object" not in str(caught.value)


def test_lines_of_toml_are_known_too(tmp_path: Path) -> None:
    text = 'blocks = 1\n[phases]\nmeasure_s = 1\n\n[[meter]]\nname = "a"\n[[meter]]\nnmae = "b"\n'
    document = read(tmp_path, text, "lab.toml")
    assert document.line(("phases", "measure_s")) == 3
    assert document.line(("meter", 1, "nmae")) == 8
    assert str(document.refusal([Fault(("meter", 1), "what")]).where).endswith(":7")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="the entry cannot be read: No such file"):
        schema.read(tmp_path / "none.yaml", "entry", "make one")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    with pytest.raises(FsgreenError, match="not text in UTF-8"):
        schema.read(tmp_path / "latin.yaml", "entry", "save it as UTF-8")
