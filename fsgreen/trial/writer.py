"""Writing a trial: under a temporary name until it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import units
from fsgreen.durable import sha256_of, sync, write_json
from fsgreen.errors import FsgreenError
from fsgreen.paths import RECORD
from fsgreen.trial.files import SMALL, full_disk_explained
from fsgreen.trial.record import TrialRecord

if TYPE_CHECKING:
    import pandas as pd


class TrialWriter:
    """Collects the files of a running trial under a temporary name.

    They go into the campaign's folder of raw traces; `name` is the trial's identifier. Raises
    FsgreenError if the campaign's folder is gone, or its disk is full.
    """

    def __init__(self, campaign_folder: Path, name: str) -> None:
        self._campaign = campaign_folder
        self._name = name
        self.folder = campaign_folder / "trials" / f".{name}.partial"
        if not campaign_folder.is_dir():
            raise FsgreenError(
                "the folder of the campaign is gone: nothing more can be stored in it",
                where=campaign_folder,
                next_step="bring it back (fsgreen unpack CAMPAIGN, or a copy), then start the same "
                "command again; without one it begins anew",
            )
        with full_disk_explained(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)

    def write_table(self, name: str, table: pd.DataFrame) -> None:
        """Write one table as Parquet; its columns must carry their units."""
        with full_disk_explained(self.folder):
            file = self.folder / f"{name}.parquet"
            units.check_columns(table).to_parquet(file, index=False, **SMALL)

    def write_parts(self, name: str, write: Callable[[Path], object]) -> Path:
        """Have `write` write one table as Parquet, part by part, and return its file."""
        file = self.folder / f"{name}.parquet"
        with full_disk_explained(self.folder):
            write(file)
        return file

    def write_json(self, name: str, value: Mapping[str, Any]) -> str:
        """Write a JSON file and return its SHA-256."""
        with full_disk_explained(self.folder):
            write_json(self.folder / name, value)
        return sha256_of(self.folder / name)

    def keep(self, record: TrialRecord) -> Path:
        """Complete the trial under its final name and return the folder."""
        return self._finish(record, self._campaign / "trials" / self._name)

    def set_aside(self, record: TrialRecord) -> Path:
        """Complete the trial among the invalid ones and return the folder."""
        folder = self._campaign / "invalid"
        with full_disk_explained(folder):
            folder.mkdir(exist_ok=True)
        number = 1
        while (folder / f"{self._name}.{number}").exists():
            number += 1
        return self._finish(record, folder / f"{self._name}.{number}")

    @property
    def written_b(self) -> int:
        """Return the bytes that have been written so far."""
        return sum(file.stat().st_size for file in self.folder.iterdir())

    def empty(self) -> None:
        """Remove what has been written so far, and go on."""
        for file in self.folder.iterdir():
            file.unlink()

    def discard(self) -> None:
        """Remove what has been written so far."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _finish(self, record: TrialRecord, final: Path) -> Path:
        files = {file.name: sha256_of(file) for file in sorted(self.folder.iterdir())}
        with full_disk_explained(self.folder):
            write_json(self.folder / RECORD, record.but(files=files).to_json())
            for file in self.folder.iterdir():
                sync(file)
            sync(self.folder)
            self.folder.rename(final)
            sync(final.parent)
        return final
