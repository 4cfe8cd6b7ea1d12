"""What a published study simulates in virtual time, and how its claims are judged on that.

`fsgreen simulate STUDY` makes tables that no machine and no trial is in, so they belong to no
campaign; git keeps them in `data/virtual/STUDY`, beside the published numbers.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths, stats
from fsgreen.analysis.claims.ledger import Check
from fsgreen.analysis.claims.source import Numbers
from fsgreen.analysis.claims.states import State
from fsgreen.claims import Band, Part
from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_csv, write_csv
from fsgreen.simdisk import engine
from fsgreen.trial import sha256_of, write_json

CLOCK = "virtual time"


def refuse_name(study: str, profile: str, name: str | None) -> None:
    """Raise FsgreenError if a campaign is named: what is simulated here belongs to none."""
    if name is not None:
        raise FsgreenError(
            f"what is simulated of {study} belongs to no campaign, not to {name}",
            next_step=f"fsgreen simulate {study} --profile {profile}",
        )


def write(study: str, tables: Mapping[str, Iterable[Mapping[str, Any]]], **said: Any) -> Path:
    """Write the rows of each table anew; return their folder.

    `simulated.json` has the hash of each file, the version of the engine, and what is `said`.
    """
    done = paths.own_virtual(study)
    folder = done.with_name(f".{done.name}.partial")
    shutil.rmtree(folder, ignore_errors=True)
    for table, rows in tables.items():
        write_csv(pd.DataFrame(rows), folder / f"{table}.csv")
    files = {f"{table}.csv": sha256_of(folder / f"{table}.csv") for table in tables}
    identity = {"schema": 1, "engine": engine().version(), **said, "files": files}
    write_json(folder / "simulated.json", identity)
    shutil.rmtree(done, ignore_errors=True)
    return folder.rename(done)


def read(study: str, tables: Iterable[str]) -> list[pd.DataFrame] | None:
    """Return the tables in their order, or None where there are none.

    Raises FsgreenError if a file is not the one that was written.
    """
    folder = paths.virtual(study)
    if not folder.is_dir():
        return None
    files = [folder / f"{table}.csv" for table in tables]
    try:
        hashes = json.loads((folder / "simulated.json").read_text())["files"]
        for file in files:
            if sha256_of(file) != hashes[file.name]:
                raise ValueError(f"{file.name} is not the file that was written")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FsgreenError(
            f"the tables in virtual time are not whole: {error}",
            where=folder,
            next_step=f"git checkout -- {folder}, or fsgreen simulate {study}",
        ) from error
    return [read_csv(file) for file in files]


class Model:
    """What claims are judged on that no campaign has. The source of each study has its tables."""

    def records(self, metric: str) -> bool:
        """Return that there are no trials of cells."""
        return False

    def in_state(
        self, part: Part, states: Iterable[State], cells: Iterable[Mapping[str, Any]] | None
    ) -> Part:
        """Return a part as it is: there is no state but the one that is declared."""
        return part


def of_model(check: Check) -> Check:
    """Return a check that gives no part of a campaign, which has nothing of the model."""

    def checked(source: Any, numbers: Numbers) -> Iterable[Part]:
        return check(source, numbers) if isinstance(source, Model) else ()

    return checked


def of_trials(check: Check) -> Check:
    """Return a check that gives no part of a model, which has no trials."""

    def checked(source: Any, numbers: Numbers) -> Iterable[Part]:
        return () if isinstance(source, Model) else check(source, numbers)

    return checked


def part(
    what: str, ours: stats.Estimate, target: Band, published: str, unit: Any = "", detail: str = ""
) -> Part:
    """Return a part of what was simulated, which says that it is of virtual time."""
    fields = {"unit": unit, "source": CLOCK, "detail": detail}
    return Part.judged(f"{what} ({CLOCK})", ours, target, published, "simulated", **fields)
