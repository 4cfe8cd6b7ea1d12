"""Trials as they lie on disk: one folder per trial, whole or absent."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen.durable import sha256_of
from fsgreen.errors import FsgreenError
from fsgreen.paths import RECORD
from fsgreen.trial.moments import Phase
from fsgreen.trial.record import TrialRecord, foreign

if TYPE_CHECKING:
    import pandas as pd

DISCARDED = "discarded"
"""Where trials go that somebody set aside after a look."""

SUPERSEDED = "superseded"
"""Where trials go of a block that another testbed of a fleet then began anew."""


@dataclass(frozen=True)
class Trial:
    """A trial as it lies on disk; tables are read when they are asked for."""

    folder: Path
    record: TrialRecord

    @property
    def name(self) -> str:
        """Return the trial's identifier, unique in its campaign."""
        return self.record.trial

    def phase(self, name: str) -> Phase:
        """Return the first phase of that name.

        Raises FsgreenError if the trial has no such phase.
        """
        try:
            return self.record.phase(name)
        except FsgreenError as error:
            raise foreign(self.folder, error.what) from None

    @property
    def measured(self) -> tuple[Phase, ...]:
        """Return what was measured: one interval, or its windows; raises as `phase` does."""
        self.phase("measure")
        return self.record.measured

    def table(self, name: str) -> pd.DataFrame:
        """Return one of the tables `power`, `ops`, `latency`, `host`."""
        from pyarrow.parquet import ParquetFile

        file = self.folder / f"{name}.parquet"
        try:
            with ParquetFile(file) as parquet:  # in half the time of pandas.read_parquet
                return parquet.read(use_threads=False).to_pandas()
        except (OSError, ValueError) as error:
            raise foreign(self.folder, f"{file.name} cannot be read: {error}") from error

    def audit(self) -> dict[str, Any]:
        """Return what the machine was when the trial began and ended."""
        try:
            value = json.loads(_read(self.folder / "audit.json"))
        except ValueError as error:
            raise foreign(self.folder, f"audit.json is not readable JSON: {error}") from error
        if not isinstance(value, dict):
            raise foreign(self.folder, "audit.json does not hold an audit")
        return value

    def verify(self) -> None:
        """Compare every file with the hash in the record (rule 22 of the statistics).

        Raises FsgreenError if a file is missing or differs.
        """
        for name, recorded in self.record.files.items():
            file = self.folder / name
            if not file.is_file():
                raise foreign(self.folder, f"{name} is missing")
            if sha256_of(file) != recorded:
                raise foreign(self.folder, f"{name} is not the file that was recorded")


def read_trial(folder: Path, *, copy: bool = False) -> Trial:
    """Read the record of one trial folder; a copy may be called NAME.2, as several of it are.

    Raises FsgreenError if the folder holds no record, or not one of a known schema.
    """
    record = TrialRecord.from_json(_read(folder / RECORD), folder)
    name = re.sub(r"\.\d+$", "", folder.name) if copy else folder.name
    if record.exit == "ok" and record.trial not in (folder.name, name):
        raise foreign(folder, f"the record is that of trial {record.trial}")
    return Trial(folder, record)


def list_trials(campaign_folder: Path) -> list[Trial]:
    """Return the valid trials of a campaign in the order in which they were measured."""
    folder = campaign_folder / "trials"
    if not folder.is_dir():
        return []
    trials = [read_trial(entry) for entry in sorted(folder.iterdir()) if not _is_temporary(entry)]
    return sorted(trials, key=lambda trial: (trial.record.block, trial.record.order))


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
    return _trials_below(campaign_folder / "invalid")


def list_discarded(campaign_folder: Path) -> list[Trial]:
    """Return the trials that somebody set aside after they were measured (rule 48).

    Their folders have the name of the trial, or NAME.2 and so on where it was set aside again.
    """
    return _trials_below(campaign_folder / DISCARDED)


def list_superseded(campaign_folder: Path) -> list[Trial]:
    """Return the trials of blocks that another testbed then began anew, named as discarded ones."""
    return _trials_below(campaign_folder / SUPERSEDED)


def place_to_discard(campaign_folder: Path, name: str, place: str = DISCARDED) -> Path:
    """Return where a trial of this name can be set aside, beside those that were before."""
    folder = campaign_folder / place
    names = itertools.chain([name], (f"{name}.{nth}" for nth in itertools.count(2)))
    return next(folder / name for name in names if not (folder / name).exists())


def sweep(campaign_folder: Path) -> list[str]:
    """Remove the half-written trials that a killed harness left; return their names."""
    folder = campaign_folder / "trials"
    left = [entry for entry in folder.iterdir() if _is_temporary(entry)] if folder.is_dir() else []
    for entry in left:
        shutil.rmtree(entry)
    return [entry.name for entry in left]


def _trials_below(folder: Path) -> list[Trial]:
    if not folder.is_dir():
        return []
    return [read_trial(entry, copy=True) for entry in sorted(folder.iterdir())]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise foreign(file.parent, f"there is no {file.name}") from None
    except OSError as error:
        raise foreign(file.parent, f"{file.name} cannot be read: {error}") from error


def _is_temporary(entry: Path) -> bool:
    return entry.name.startswith(".") and entry.name.endswith(".partial")
