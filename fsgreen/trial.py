"""The trial record: one folder per trial, whole or absent.

A folder under its final name is a whole trial: it is written under a temporary name, synced, and
renamed. Trials that break a rule are kept apart under `invalid/`, with the reason.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import units
from fsgreen.durable import sync, whole
from fsgreen.errors import FsgreenError

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
TABLES = ("power", "ops", "latency", "host")
SMALL: Mapping[str, Any] = {
    "compression": "zstd",
    "compression_level": 9,
    "use_dictionary": False,
    "write_statistics": False,
}
"""How tables of some thousand rows become small files: a campaign ships with all its trials."""

PHASES = ("prepare", "settle", "idle", "warmup", "measure", "flush", "idle")
"""Phases of a trial in their order; the second `idle` follows the work."""


@dataclass(frozen=True)
class Phase:
    """A named interval of a trial in host monotonic seconds."""

    name: str
    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Return the length of the phase in seconds."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Trial:
    """A trial as it lies on disk; tables are read when they are asked for."""

    folder: Path
    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the trial's identifier, unique in its campaign."""
        return str(self.record["trial"])

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Return the phases in their order."""
        return tuple(Phase(**phase) for phase in self.record["phases"])

    def phase(self, name: str) -> Phase:
        """Return the first phase of that name.

        Raises
        ------
        FsgreenError
            If the trial has no such phase.
        """
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise _foreign(self.folder, f"there is no phase '{name}'")

    def table(self, name: str) -> pd.DataFrame:
        """Return one of the tables `power`, `ops`, `latency`, `host`."""
        import pandas as pd

        file = self.folder / f"{name}.parquet"
        try:
            return pd.read_parquet(file)
        except (OSError, ValueError) as error:
            raise _foreign(self.folder, f"{file.name} cannot be read: {error}") from error

    def audit(self) -> dict[str, Any]:
        """Return what the machine was when the trial began and ended."""
        return _read_json(self.folder / "audit.json")

    def verify(self) -> None:
        """Compare every file with the hash in the record (rule 22 of the statistics).

        Raises
        ------
        FsgreenError
            If a file is missing or differs.
        """
        for name, recorded in self.record["files"].items():
            file = self.folder / name
            if not file.is_file():
                raise _foreign(self.folder, f"{name} is missing")
            if sha256_of(file) != recorded:
                raise _foreign(self.folder, f"{name} is not the file that was recorded")


def read_trial(folder: Path) -> Trial:
    """Read the record of one trial folder.

    Raises
    ------
    FsgreenError
        If the folder holds no record, or not one of this schema.
    """
    record = _read_json(folder / "trial.json")
    if record.get("schema") != SCHEMA:
        raise _foreign(folder, f"its schema is {record.get('schema')!r}, not {SCHEMA}")
    missing = {"trial", "cell", "block", "plan_hash", "phases", "files", "exit"} - record.keys()
    if missing:
        raise _foreign(folder, f"the record lacks {', '.join(sorted(missing))}")
    if record["exit"] == "ok" and record["trial"] != folder.name:
        raise _foreign(folder, f"the record is that of trial {record['trial']}")
    return Trial(folder, record)


def list_trials(campaign_folder: Path) -> list[Trial]:
    """Return the valid trials of a campaign in the order in which they were measured."""
    folder = campaign_folder / "trials"
    if not folder.is_dir():
        return []
    trials = [read_trial(entry) for entry in sorted(folder.iterdir()) if not _is_temporary(entry)]
    return sorted(trials, key=lambda trial: (trial.record["block"], trial.record["order"]))


def first_trial(campaign_folder: Path) -> Trial:
    """Return the first whole trial of a campaign; raises FsgreenError where there is none yet."""
    trials = list_trials(campaign_folder)
    if not trials:
        raise FsgreenError(
            "the campaign has no whole trial yet",
            where=campaign_folder,
            next_step=f"fsgreen status {campaign_folder.name}",
        )
    return trials[0]


def list_invalid(campaign_folder: Path) -> list[Trial]:
    """Return the trials that broke a rule and were kept apart."""
    folder = campaign_folder / "invalid"
    return [read_trial(entry) for entry in sorted(folder.iterdir())] if folder.is_dir() else []


def sweep(campaign_folder: Path) -> list[str]:
    """Remove the half-written trials that a killed harness left; return their names."""
    folder = campaign_folder / "trials"
    left = [entry for entry in folder.iterdir() if _is_temporary(entry)] if folder.is_dir() else []
    for entry in left:
        shutil.rmtree(entry)
    return [entry.name for entry in left]


class TrialWriter:
    """Collects the files of a running trial under a temporary name.

    Parameters
    ----------
    campaign_folder : Path
        The campaign's folder of raw traces.
    name : str
        The trial's identifier.
    """

    def __init__(self, campaign_folder: Path, name: str) -> None:
        self._campaign = campaign_folder
        self._name = name
        self.folder = campaign_folder / "trials" / f".{name}.partial"
        with _full_disk_explained(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)

    def write_table(self, name: str, table: pd.DataFrame) -> None:
        """Write one table as Parquet; its columns must carry their units."""
        with _full_disk_explained(self.folder):
            file = self.folder / f"{name}.parquet"
            units.check_columns(table).to_parquet(file, index=False, **SMALL)

    def write_parts(self, name: str, write: Callable[[Path], object]) -> Path:
        """Have `write` write one table as Parquet, part by part, and return its file."""
        file = self.folder / f"{name}.parquet"
        with _full_disk_explained(self.folder):
            write(file)
        return file

    def write_json(self, name: str, value: Mapping[str, Any]) -> str:
        """Write a JSON file and return its SHA-256."""
        with _full_disk_explained(self.folder):
            write_json(self.folder / name, value)
        return sha256_of(self.folder / name)

    def keep(self, record: Mapping[str, Any]) -> Path:
        """Complete the trial under its final name and return the folder."""
        return self._finish(record, self._campaign / "trials" / self._name)

    def set_aside(self, record: Mapping[str, Any]) -> Path:
        """Complete the trial among the invalid ones and return the folder."""
        folder = self._campaign / "invalid"
        with _full_disk_explained(folder):
            folder.mkdir(exist_ok=True)
        number = 1
        while (folder / f"{self._name}.{number}").exists():
            number += 1
        return self._finish(record, folder / f"{self._name}.{number}")

    def discard(self) -> None:
        """Remove what has been written so far."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _finish(self, record: Mapping[str, Any], final: Path) -> Path:
        files = {file.name: sha256_of(file) for file in sorted(self.folder.iterdir())}
        with _full_disk_explained(self.folder):
            write_json(self.folder / "trial.json", {"schema": SCHEMA, **record, "files": files})
            for file in self.folder.iterdir():
                sync(file)
            sync(self.folder)
            self.folder.rename(final)
            sync(final.parent)
        return final


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    with whole(file) as partial:
        partial.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text())
    except FileNotFoundError:
        raise _foreign(file.parent, f"there is no {file.name}") from None
    except (OSError, ValueError) as error:
        raise _foreign(file.parent, f"{file.name} is not readable JSON: {error}") from error
    if not isinstance(value, dict):
        raise _foreign(file.parent, f"{file.name} does not hold a record")
    return value


def _foreign(folder: Path, reason: str) -> FsgreenError:
    return FsgreenError(
        f"not a whole trial of this project: {reason}",
        where=folder,
        next_step=f"move it out of the campaign (or, for shipped data, dvc checkout): {folder}",
    )


def _is_temporary(entry: Path) -> bool:
    return entry.name.startswith(".") and entry.name.endswith(".partial")


def sha256_of(file: Path) -> str:
    """Return the hash of a file's bytes, as records hold it."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _full_disk_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise FsgreenError(
            "the disk that holds the raw traces is full; the trials so far are whole",
            where=path,
            next_step="free some space, then start the same command again: it resumes",
        ) from error
