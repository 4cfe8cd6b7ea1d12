"""The file of results that a person can send in: its schema, its digest, and how it is read.

It is plain JSON, a row of a table in a line: whoever sends it in can read all of it before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from fsgreen.errors import FsgreenError
from fsgreen.schema import Strict, faults_of

T = TypeVar("T")

FORMAT = "fsgreen results"
SCHEMA = 2
OF_ONE_TESTBED = 1
"""The schema of a file whose campaign had one testbed: versions that know no other read it, too."""
MOST_B = 4 << 20
"""A file that is larger holds no results of one campaign."""

ENVELOPE = ("format", "schema", "sha256")
BEGIN_B = 1000
"""Of a file that is no JSON: what it was once is said there."""

Text = Annotated[str, Field(max_length=200, pattern=r"^[ -~]*$")]
"""What is printed on terminals: without control characters."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Many = Annotated[int, Field(ge=0, le=2**60)]
Size = Annotated[float, Field(ge=0, le=1e30)]
Value = Annotated[float, Field(ge=-1e30, le=1e30)]
Share = Annotated[float, Field(ge=0, le=1)]
Rows = Annotated[tuple[T, ...], Field(max_length=20_000)]
Levels = dict[Text, Text | bool | int | float]
"""The level of each factor that has one, by its name."""


class Between(Strict):
    """A value with the ends of its 95 % interval, None where there are none."""

    x: Value
    low: Value | None = None
    high: Value | None = None

    @model_validator(mode="after")
    def _has_both_ends(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("an interval begins at its lower end")
        return self


class Disk(Strict):
    """A disk of a machine, in broad terms."""

    model: Text
    rotational: bool | None


class Machine(Strict):
    """A machine in broad terms; what nobody told is "" or None."""

    cpu: Text
    cores_count: Many | None
    memory_b: Many | None
    kernel: Text
    architecture: Text
    virtual_machine: Text
    disks: Rows[Disk]

    @property
    def lasting(self) -> tuple[Any, ...]:
        """Return what stays the same of it when its software changes."""
        return (self.cpu, self.cores_count, self.memory_b, self.architecture, self.disks)


class Testbed(Strict):
    """Where trials ran; `model` and `clock` are those of what is simulated."""

    kind: Text
    in_memory: bool
    model: Text
    clock: Text


class Meter(Strict):
    """A meter in broad terms; `source_sha256` tells models of power apart."""

    driver: Text
    model: Text
    boundary: Text
    rate_hz: Size | None
    resolution_w: Size | None
    gain_error: Size | None
    source_sha256: Digest


class Profile(Strict):
    """How much of a study was run, and how long; `window_s` where cells took turns."""

    name: Text
    blocks: Many
    most_blocks: Many | None
    idle_s: Size
    warmup_s: Size
    measure_s: Size
    window_s: Size | None
    image_b: Many
    scale: dict[Text, Size]


class Cell(Strict):
    """A cell, and its metrics by name; `state` is the class of its trials (rule 23)."""

    levels: Levels
    boundary: Text
    n: Many
    state: Text
    starred: bool
    cv_percent: Size | None
    values: dict[Text, Between]


class Effect(Strict):
    """A comparison in a metric: the cell `of` over the cell `over`, which share the rest.

    `degrees_count` are those of freedom of the interval, and p-values are adjusted (Holm).
    """

    kind: Text
    metric: Text
    of_power: bool
    shared: Levels
    of: Levels
    over: Levels
    boundary: Text
    n: Many
    ratio: Between
    degrees_count: Annotated[float, Field(ge=1, le=1e9)] | None
    difference_holm_p: Share | None
    equivalence_holm_p: Share | None
    bound_percent: Size | None
    outcome: Text
    gate: Text

    @model_validator(mode="after")
    def _is_of_positive_numbers(self) -> Self:
        if any(value is not None and value <= 0 for value in (self.ratio.x, self.ratio.low)):
            raise ValueError("a ratio of work, power or time is above 0")
        return self

    @property
    def compared(self) -> tuple[Any, ...]:
        """Return what sets a comparison apart from the others of a file."""
        levels = (tuple(sorted(side.items())) for side in (self.shared, self.of, self.over))
        return (self.kind, self.metric, self.boundary, *levels)


class Results(Strict):
    """What a campaign found, and on what: all that goes along.

    Testbeds that shared the blocks are equal: `machine` and `testbed` are those of one of them.
    """

    fsgreen: Text
    study: Text
    plan_hash: Digest
    profile: Profile
    workloads: dict[Text, Digest]
    machine: Machine
    testbed: Testbed
    testbeds_count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    boundary: Text
    meters: Rows[Meter]
    rules_fired: Rows[Many]
    rules_unknown: Rows[Many]
    cells: Rows[Cell]
    effects: Rows[Effect]

    @model_validator(mode="after")
    def _compares_each_once(self) -> Self:
        if len({effect.compared for effect in self.effects}) < len(self.effects):
            raise ValueError("a comparison stands in it twice")
        return self

    def text(self) -> str:
        """Return the text of the file: JSON, a row of a table in a line."""
        values = self.model_dump(mode="json")
        if self.testbeds_count == 1:
            del values["testbeds_count"]
        schema = SCHEMA if self.testbeds_count > 1 else OF_ONE_TESTBED
        whole = {"format": FORMAT, "schema": schema, **values}
        whole = {"sha256": _digest(whole), **whole}
        parts = []
        for name, value in whole.items():
            written = json.dumps(value)
            if isinstance(value, list) and value and isinstance(value[0], dict):
                written = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
            parts.append(f' "{name}": {written}')
        return "{\n" + ",\n".join(parts) + "\n}\n"


def read(file: Path) -> Results:
    """Read a file that `fsgreen export` wrote.

    Raises FsgreenError if it cannot be read, or is damaged, edited, of a newer version, or
    something else.
    """
    try:
        with file.open("rb") as stream:
            held = stream.read(MOST_B + 1)
    except OSError as error:
        raise FsgreenError(
            f"the file cannot be read: {error.strerror}",
            where=file,
            next_step="name files that `fsgreen export CAMPAIGN` wrote",
        ) from error
    return parsed(held, file)


def parsed(held: bytes, where: Path) -> Results:
    """Return the results that the bytes of a file hold; raises FsgreenError as `read`."""
    if len(held) > MOST_B:
        raise _foreign(where, f"it has more than {MOST_B >> 20} MiB")
    try:
        whole = json.loads(held, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        if FORMAT.encode() not in held[:BEGIN_B]:
            raise _foreign(where, "it is not JSON") from error
        raise _damaged(where, "it is not readable JSON, its end is missing perhaps") from error
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise _foreign(where, f"it does not say that its format is '{FORMAT}'")
    schema = whole.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise FsgreenError(
            f"a newer fsgreen wrote this file: its schema is {schema}, and this version reads "
            f"{SCHEMA}",
            where=where,
            next_step="update fsgreen: git pull",
        )
    if schema not in (OF_ONE_TESTBED, SCHEMA):
        raise _foreign(where, "no fsgreen wrote its schema")
    told = whole.pop("sha256", None)
    if told != _digest(whole):
        raise _damaged(where, "it was edited, as its digest does not fit")
    return _results({name: whole[name] for name in whole if name not in ENVELOPE}, where)


def _results(values: Mapping[str, Any], where: Path) -> Results:
    try:
        return Results.model_validate_json(json.dumps(values))
    except ValidationError as error:
        wrong = "; ".join(fault.what for fault in faults_of(Results, error, values)[:3])
        # A terminal obeys what a stranger may have put into a key.
        raise _damaged(where, "".join(filter(str.isprintable, wrong))) from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _foreign(where: Path, why: str) -> FsgreenError:
    return FsgreenError(
        f"not a file of results: {why}",
        where=where,
        next_step="name files that `fsgreen export CAMPAIGN` wrote",
    )


def _damaged(where: Path, why: str) -> FsgreenError:
    return FsgreenError(
        f"the file is not as fsgreen wrote it: {why}",
        where=where,
        next_step="ask the sender for the file that `fsgreen export CAMPAIGN` wrote",
    )


def _digest(whole: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical text of all but the digest itself."""
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
