"""What home believes of the files of a campaign that a worker sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.design import PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.fleet.messages import is_plain
from fsgreen.fleet.turn import Turn
from fsgreen.paths import RECORD
from fsgreen.trial import TrialRecord
from fsgreen.trial.record import foreign

MOST_B = 256 << 20
"""The largest JSON that is read whole: a plan of a hundred thousand trials is a tenth of it."""

NUMBERS = ("started_unix_s", "idle_power_w", "idle_band_w")
"""What of `campaign.json` is reckoned with after this."""


@dataclass(frozen=True)
class Expected:
    """What home expects of a testbed."""

    is_plan: Callable[[dict[str, Any]], bool]
    """Whether the values of `plan.json` are those of the trials that are to be measured."""
    trial: Callable[[str], PlannedTrial | None]
    """The trial of that plan that has a name; None where none has it."""
    turn: Turn = field(default_factory=Turn)
    """That of who checks something: of many testbeds one does in a turn of the loop, so that home
    answers the others between."""


def check(name: str, file: Path, expected: Expected) -> None:
    """Refuse a file that came for `name`, where readers would take it for something else.

    `name` is what the file is called in the campaign, and `file` is where it is as long as nobody
    believes it. Raises FsgreenError if it is not a table of JSON, not the plan, or an identity
    without what that must have.
    """
    if not name.endswith(".json"):
        return
    value = _table(name, file)
    if name == paths.PLAN and not expected.is_plan(value):
        raise _foreign(
            name, "it is not the plan that is measured", "or begin another campaign with --name"
        )
    if name == paths.IDENTITY and (unsound := [*_unsound(value)]):
        raise _foreign(name, f"it does not say {', '.join(unsound)} as it must")


def _unsound(identity: dict[str, Any]) -> Iterator[str]:
    """Yield what of an identity readers would trip over."""
    yield from (key for key in NUMBERS if not isinstance(identity.get(key), float | int))
    if not isinstance(identity.get("testbed"), dict):
        yield "testbed"
    if not _is_of_tables(identity.get("meters")):
        yield "meters"
    audit = identity.get("audit")
    if not isinstance(audit, dict):
        yield "audit"
        return
    if not _is_of_tables(audit.get("disks", {})):
        yield "disks"
    if not isinstance(audit.get("speed_loops_s"), float | int | None):
        yield "speed_loops_s"


def _is_of_tables(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())


def _table(name: str, file: Path) -> dict[str, Any]:
    if file.stat().st_size > MOST_B:
        raise _foreign(name, f"it has more than {MOST_B >> 20} MiB")
    try:
        value = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _foreign(name, f"not readable JSON: {error}") from error
    if not isinstance(value, dict):
        raise _foreign(name, "it is no table")
    return value


def _foreign(name: str, why: str, or_else: str = "") -> FsgreenError:
    return FsgreenError(
        f"{name} that came from the testbed cannot be used: {why}",
        where=name,
        next_step="have the same study and version of fsgreen on both machines"
        + (f", {or_else}" if or_else else ""),
    )


def check_record(
    record: TrialRecord, names: Collection[str], campaign: str, partial: Path, expected: Expected
) -> None:
    """Refuse the record of something else than an expected trial, and files that are not its own.

    `names` are what its trial may be called, and `campaign` is the campaign that it must be of.
    `partial` is where it is as long as nobody believes it. Raises FsgreenError for either.
    """
    planned = expected.trial(record.trial) if record.trial in names else None
    if planned is None:
        raise foreign(partial, f"the record is that of trial {record.trial!r}")
    if record.campaign != campaign:
        raise foreign(partial, f"the record is that of campaign {record.campaign!r}")
    told = (dict(record.cell), record.block, record.order)
    if told != (planned.cell.to_json(), planned.block, planned.order):
        raise foreign(partial, f"not the cell, block and order of {planned.trial} in the plan")
    if record.beside is not None and record.trial not in record.beside.trials:
        raise foreign(partial, "it took turns with others, and was not among them")
    for file in record.files:
        if file == RECORD or not is_plain(file):
            raise foreign(partial, f"it names a file elsewhere, or its own record: {file!r}")


def began_unix_s(identity: Path) -> Any:
    """Return when a campaign began by its `campaign.json`; None where that cannot be told."""
    try:
        return json.loads(identity.read_bytes())["started_unix_s"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
