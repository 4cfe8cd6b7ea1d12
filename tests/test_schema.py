"""Files that people write: every fault is told with its line, and nothing is misread."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Literal

import pytest
from pydantic import TypeAdapter

import fsgreen
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


def test_a_date_is_a_text(tmp_path: Path) -> None:
    """A plan could not be written that had one."""
    assert read(tmp_path, "installed: 2026-01-05\n").values == {"installed": "2026-01-05"}


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
        (
            "blocks:\nphases: {measure_s: 3}\n",
            "line 1: blocks: takes a whole number from 1 on, not n",
        ),
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


class Either(Declared):
    levels: dict[str, list[str | int] | dict[str, int]] = {}  # noqa: RUF012
    phase: Literal["warmup", "measure"] = "measure"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("levels: {a: 3}", "levels.a: takes a list or keys with values, not 3"),
        ("levels:\n  a:\n  - x\n  - [y]", "levels.a.1: takes a text or a whole number, not ['y']"),
        ("levels: {a: {b: c}}", "levels.a.b: takes a whole number, not 'c'"),
        ("levels: {1: [a]}", "levels.1: takes a text as its name, not 1"),
        ("phase: mesure", "phase: takes warmup or measure, not 'mesure', did you mean measure?"),
    ],
)
def test_what_may_be_several_things_is_told_once(text: str, told: str, tmp_path: Path) -> None:
    """Of each alternative that pydantic tries it has an error of its own, at a place of its own."""
    with pytest.raises(FsgreenError) as caught:
        read(tmp_path, text + "\n").as_(Either)
    assert caught.value.what == f"not a entry: line {text.count(chr(10)) + 1}: {told}"


RAISES = {
    "any": (),
    "bool": ("bool_type", "bool_parsing"),
    "dict": ("dict_type",),
    "float": ("float_type", "float_parsing", "finite_number"),
    "int": ("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
    "list": ("list_type",),
    "literal": ("literal_error",),
    "model": ("model_type", "model_attributes_type"),
    "model-fields": ("model_type", "missing", "extra_forbidden"),
    "str": ("string_type", "string_sub_type", "string_unicode"),
    "tuple": ("tuple_type",),
    "ge": ("greater_than_equal",),
    "gt": ("greater_than",),
    "le": ("less_than_equal",),
    "lt": ("less_than",),
    "function-plain": ("taking",),
    "function-after": ("value_error",),
    "function-before": ("value_error",),
    **dict.fromkeys(("default", "model-field", "no-info", "nullable", "union"), ()),
}
"""The errors of each kind of node in a schema of pydantic, and of each limit of one."""

OWN = ("missing", "extra_forbidden", "value_error")
"""Those that are told in a sentence of their own."""


def nodes(schema: object) -> Iterator[tuple[str, str]]:
    """Yield each node of a schema of pydantic, and each of its limits, with what it is below."""
    if isinstance(schema, dict):
        kind = schema.get("type")
        if isinstance(kind, str):
            yield kind, kind
            yield from ((limit, kind) for limit in ("ge", "gt", "le", "lt") if limit in schema)
            if "min_length" in schema:
                yield "min_length", kind
        for key, value in schema.items():
            if key not in ("metadata", "serialization", "ref", "default"):
                yield from nodes(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from nodes(value)


MESSAGES = ("fsgreen.fleet.messages", "fsgreen.cluster.reduction")
"""Programs send these to each other; nobody writes them."""


def declared_schemas(cls: type = Declared) -> Iterator[type]:
    for below in cls.__subclasses__():
        if below.__module__.startswith("fsgreen.") and below.__module__ not in MESSAGES:
            yield below
        yield from declared_schemas(below)


def test_every_error_that_a_schema_can_raise_has_words_of_ours() -> None:
    """pydantic speaks of valid dictionaries and inputs to who wrote a study."""
    for module in pkgutil.walk_packages(fsgreen.__path__, "fsgreen."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    schemas = [*declared_schemas()]
    assert {"StudyFile", "TestbedTable", "Entry", "Params"} <= {of.__name__ for of in schemas}
    raised = set()
    for of in schemas:
        for node, kind in nodes(TypeAdapter(of).core_schema):
            if node == "min_length":
                raised.add("string_too_short" if kind == "str" else "too_short")
            else:
                assert node in RAISES, f"{of.__name__}: what does a node {node} raise?"
                raised.update(RAISES[node])
    assert raised - {*OWN} <= schema.WORDS.keys()


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
