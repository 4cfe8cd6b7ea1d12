"""The reduction of one trial as it is sent: its files by content, and what comes of them.

Tables are Parquet in both directions, numbers are exact, and nothing is a pickle.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError

from fsgreen.design import Plan
from fsgreen.errors import FsgreenError
from fsgreen.fleet.messages import FileName
from fsgreen.paths import RECORD
from fsgreen.reduce.parts import Part, WithAttached, reduced
from fsgreen.schema import Strict
from fsgreen.trace import MeterEnergy
from fsgreen.trial import Trial, read_trial
from fsgreen.trial.record import foreign

READ = ("power", "ops", "latency", "host")
"""The tables that a reduction reads: raw bytes of meters stay at home."""

SENT_B = 256 << 20
"""The most that is sent of a trial: a larger one is reduced at home, where it streams."""

SAME_VERSION = "have the same version of fsgreen on all machines of the cluster"

Json = Annotated[str, Field(max_length=16 << 20)]
Bytes = Annotated[bytes, Field(max_length=SENT_B)]

_ENERGIES: TypeAdapter[dict[str, MeterEnergy]] = TypeAdapter(dict[str, MeterEnergy])


class Given(Strict):
    """A plan without its trials, the name and the files of one trial, and meters attached to it."""

    plan: Json
    attached: Json
    trial: FileName
    files: dict[FileName, Bytes]


class Made(Strict):
    """What comes of it: a row and a cell in JSON, the rest in Parquet."""

    row: Json
    cell: Json
    series: Bytes
    latency: Bytes
    finishes: Bytes
    power_over_time: Bytes


def plan_text(plan: Plan) -> str:
    """Return a plan as it is sent."""
    return json.dumps(plan.to_json())


def sent_b(trial: Trial) -> int:
    """Return how many bytes of a trial would be sent."""
    return sum((trial.folder / name).stat().st_size for name in _sent(trial))


def given(plan: str, with_attached: WithAttached) -> Given:
    """Return what is sent of a trial of a plan; raises OSError if a file cannot be read."""
    trial, attached = with_attached
    return Given(
        plan=plan,
        attached=_ENERGIES.dump_json(dict(attached)).decode(),
        trial=trial.name,
        files={name: (trial.folder / name).read_bytes() for name in _sent(trial)},
    )


def made(sent: Given) -> Made:
    """Reduce what was sent.

    Raises FsgreenError if it is no plan or no whole trial of it, or a file is not the one that was
    recorded.
    """
    with tempfile.TemporaryDirectory(prefix="fsgreen-") as place:
        folder = Path(place) / sent.trial
        folder.mkdir()
        for name, data in sent.files.items():
            (folder / name).write_bytes(data)
        trial = read_trial(folder)
        for name, data in sent.files.items():
            if name != RECORD and hashlib.sha256(data).hexdigest() != trial.record.files.get(name):
                raise foreign(folder, f"{name} is not the file that was recorded")
        came = reduced(_plan(sent.plan), (trial, _attached(sent.attached)))
    return Made(
        row=_text(came.row),
        cell=_text(came.cell),
        series=_parquet(came.series),
        latency=_parquet(came.latency),
        finishes=_parquet(came.finishes),
        power_over_time=_parquet(came.power_over_time),
    )


def part(came: Made) -> Part:
    """Return what came of a trial; raises FsgreenError where it is none of that."""
    try:
        row, cell = json.loads(came.row), json.loads(came.cell)
        tables = [
            pd.read_parquet(BytesIO(table))
            for table in (came.series, came.latency, came.finishes, came.power_over_time)
        ]
    except (OSError, ValueError, RecursionError) as error:
        raise FsgreenError(
            f"the result of a trial cannot be read: {error}", next_step=SAME_VERSION
        ) from error
    if not (isinstance(row, dict) and isinstance(cell, dict)):
        raise FsgreenError("the result of a trial has no row", next_step=SAME_VERSION)
    return Part(row, cell, *tables)


def _sent(trial: Trial) -> list[str]:
    return [RECORD, *(f"{table}.parquet" for table in READ)]


@lru_cache(maxsize=8)
def _plan(text: str) -> Plan:
    try:
        return Plan.from_json(json.loads(text), "what was sent")
    except (ValueError, AttributeError, RecursionError) as error:
        raise FsgreenError(
            f"not a plan: {error}", where="what was sent", next_step=SAME_VERSION
        ) from error


def _attached(text: str) -> dict[str, MeterEnergy]:
    try:
        return _ENERGIES.validate_json(text)
    except ValidationError as error:
        raise FsgreenError(
            f"not the energies of meters: {error}", where="what was sent", next_step=SAME_VERSION
        ) from error


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, default=lambda number: number.item())


def _parquet(table: pd.DataFrame) -> bytes:
    stream = BytesIO()
    table.to_parquet(stream)
    return stream.getvalue()
