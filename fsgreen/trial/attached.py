"""What a meter that recorded on its own says of a campaign's trials: a file beside them.

The trials stay as they are: `energy-METER.json` lies in the campaign's folder, under a hash of its
own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen.durable import write_json
from fsgreen.errors import FsgreenError
from fsgreen.trace import ClockFit, MeterEnergy, MeterInfo

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = 1


@dataclass(frozen=True)
class AttachedMeter:
    """A meter with a clock of its own, and what it says of each trial that it covers."""

    name: str
    """As columns of tables have it: driver and serial number."""
    info: MeterInfo
    """What it is."""
    clock: ClockFit
    """How its clock runs against the host's (rule 17)."""
    energy: Mapping[str, MeterEnergy]
    """By name of the trial."""
    begun_unix_s: Mapping[str, float] = field(default_factory=dict)
    """When each of these trials began. One that was measured again under its name is another."""

    def of(self, name: str, begun_unix_s: float) -> MeterEnergy | None:
        """Return what it says of the trial that began then; None of one that it does not cover."""
        if self.begun_unix_s.get(name, begun_unix_s) != begun_unix_s:
            return None
        return self.energy.get(name)

    def write(self, campaign_folder: Path) -> Path:
        """Keep it beside the trials, in place of what the same meter said before."""
        value = _adapter().dump_python(self, mode="json")
        file = campaign_folder / f"energy-{self.name}.json"
        write_json(file, {"schema": SCHEMA, "sha256": _hash(value), **value})
        return file


def attached_meters(campaign_folder: Path) -> list[AttachedMeter]:
    """Return the meters that were attached to a campaign, by name.

    Raises FsgreenError if a file is damaged, or not the one that was written.
    """
    return [_read(file) for file in sorted(campaign_folder.glob("energy-*.json"))]


def _read(file: Path) -> AttachedMeter:
    try:
        value = json.loads(file.read_bytes())
        if value.pop("schema") != SCHEMA or value.pop("sha256") != _hash(value):
            raise ValueError("it is not the file that was written")
        return _adapter().validate_python(value)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise FsgreenError(
            f"not the energies of an attached meter: {error}",
            where=file,
            next_step=f"attach its file again: fsgreen attach {file.parent.name} FILE",
        ) from error


@cache
def _adapter() -> TypeAdapter[AttachedMeter]:
    from pydantic import TypeAdapter

    return TypeAdapter(AttachedMeter)


def _hash(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
