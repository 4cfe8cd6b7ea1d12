"""Files of runs as one table, and as a campaign like any other."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths, trial, units
from fsgreen.design import factors
from fsgreen.design.imported import plan_of_runs
from fsgreen.errors import FsgreenError
from fsgreen.meters.files.text import Report, some
from fsgreen.reduce.imported import RUNS
from fsgreen.runs import energibridge, experiment_runner, filebench, fio, phoronix
from fsgreen.runs.meanings import UNITS, Meanings, levels_of
from fsgreen.runs.rows import Format, row_of, told_apart
from fsgreen.trace import Boundary

FORMATS: tuple[Format, ...] = (
    experiment_runner.FORMAT,
    energibridge.FORMAT,
    fio.FORMAT,
    filebench.FORMAT,
    phoronix.FORMAT,
)

LARGEST_B = 64 * 2**20
HEAD_B = 64 * 2**10

NO_ENERGY = "no energy"
"""The boundary of runs without energy."""

WORKLOAD = "runs"
"""The workload of runs that name none."""

COLUMNS = (
    *("trial", "block", *factors.names(), "duration_s", "work_ops"),
    *("throughput_ops_s", "bandwidth_b_s", "energy_j", "power_w", "efficiency_ops_j"),
    *("latency_p50_s", "latency_p95_s", "latency_p99_s"),
)


@dataclass(frozen=True)
class ImportedRuns:
    """What files of runs hold.

    `runs` has those columns of `trials.csv` that the files know, a row per run; `aside` the columns
    without a known meaning, as texts. `sources` names each file, with its SHA-256 and the decisions
    that were made about it; `contents` are their bytes. `boundary` is what energy includes.
    """

    format: str
    runs: pd.DataFrame
    aside: pd.DataFrame
    sources: tuple[Mapping[str, Any], ...]
    contents: tuple[bytes, ...]
    boundary: str

    def keep(self, campaign: str, title: str) -> Path:
        """Make a campaign of the runs: its files, their table, a plan and a record; return it.

        Raises FsgreenError where there is a campaign of this name.
        """
        folder, results = paths.raw(campaign), paths.results(campaign)
        if folder.exists() or (results.is_dir() and any(results.iterdir())):
            raise FsgreenError(
                f"there is a campaign '{campaign}' already",
                where=folder,
                next_step="choose another --name, or remove that folder to import it anew",
            )
        partial = folder.with_name(f".{campaign}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        (partial / "files").mkdir(parents=True)
        for source, content in zip(self.sources, self.contents, strict=True):
            (partial / source["kept"]).write_bytes(content)
        units.check_columns(self.runs, also=factors.names()).to_csv(partial / RUNS, index=False)
        if not self.aside.empty:
            self.aside.to_csv(partial / "aside.csv", index=False)
        trial.write_json(partial / paths.PLAN, plan_of_runs(self.runs.to_dict("records")).to_json())
        trial.write_json(partial / "confounds.json", {})  # nothing was probed
        record = {"format": self.format, "title": title, "files": list(self.sources)}
        identity = {
            "schema": 1,
            "started_unix_s": time.time(),
            "testbed": {"kind": "imported"},
            "meters": {},
            "boundary": self.boundary,
            "imported": record,
        }
        trial.write_json(partial / paths.IDENTITY, identity)
        return partial.rename(folder)


def import_runs(
    files: Sequence[Path],
    meanings: Meanings,
    *,
    pattern: re.Pattern[str] | None = None,
    boundary: Boundary | None = None,
) -> ImportedRuns:
    """Read files of runs, all of one format.

    Each has the runs of one table, or one run. `meanings` say what columns mean that do not say it.
    `pattern`, of `places.path_pattern`, is what the files' paths say of their levels. `boundary` is
    what the power includes; it is required where there is energy or power. Raises FsgreenError if a
    file cannot be trusted or two are the same; for a column that can be read in several ways, or a
    meaning of none; for energy without a boundary.
    """
    contents = {file: _content(file) for file in files}
    form = _format(contents)
    hashes = {file: hashlib.sha256(data).hexdigest() for file, data in contents.items()}
    counts = Counter(hashes[file] for file in files)
    if again := [str(file) for file, digest in hashes.items() if counts[digest] > 1]:
        raise FsgreenError(
            f"these files are the same, and would count a run twice: {some(again)}",
            next_step="give each run once",
        )
    levels = {file: levels_of(file.as_posix(), pattern) for file in contents}
    reports = {file: Report(str(file)) for file in contents}
    runs_of_files = [
        (file, run)
        for file, data in contents.items()
        for run in form.read(data, meanings, reports[file])
    ]
    runs = [run for _, run in runs_of_files]
    if not (pattern and "workload" in pattern.groupindex):
        runs = told_apart([(reports[file], run) for file, run in runs_of_files])
    rows: list[dict[str, Any]] = []
    aside: list[dict[str, str]] = []
    numbers = {file: f"r{nth:03d}" for nth, file in enumerate(contents, 1)}
    for (file, _), run in zip(runs_of_files, runs, strict=True):
        name = "-".join(part for part in (numbers[file], file.stem, run.name) if part)
        row = row_of(run, levels[file], reports[file])
        if row.keys() & {column for column, _ in UNITS.values()}:
            rows.append({"trial": name, **row})
        aside.append({"trial": name, **{_other(key): run.aside[key] for key in run.aside}})
    names = _names(contents)
    sources = [
        {
            "file": names[file],
            "kept": f"files/{numbers[file]}-{file.name}",
            "sha256": hashes[file],
            "decisions": list(report.decisions),
        }
        for file, report in reports.items()
    ]
    meanings.finish()
    table = _table(rows, boundary)
    return ImportedRuns(
        form.name,
        table,
        _aside(aside),
        tuple(sources),
        tuple(contents.values()),
        str(boundary) if _has_energy(table) else NO_ENERGY,
    )


def _names(files: Iterable[Path]) -> dict[Path, str]:
    """Return what each file is called: its name, with its folders where two have the same."""
    places = {file: file.absolute() for file in files}
    if len({file.name for file in places}) == len(places):
        return {file: file.name for file in places}
    shared = Path(os.path.commonpath([place.parent for place in places.values()]))
    return {file: place.relative_to(shared).as_posix() for file, place in places.items()}


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_B + 1)
    except OSError as error:
        raise FsgreenError(
            f"the file cannot be read: {error.strerror}", where=file, next_step="check its path"
        ) from error
    if len(data) > LARGEST_B:
        raise FsgreenError(
            f"the file is larger than {LARGEST_B // 2**20} MiB, the limit for a table of runs",
            where=file,
            next_step="a trace of power is read with: fsgreen import FILE --driver DRIVER",
        )
    return data


def _format(contents: Mapping[Path, bytes]) -> Format:
    formats: dict[str, Format] = {}
    for file, data in contents.items():
        fitting = [form for form in FORMATS if form.recognises(data[:HEAD_B])]
        if not fitting:
            raise FsgreenError(
                "this is none of: " + "; ".join(form.name for form in FORMATS),
                where=file,
                next_step="see docs/imports.md for what each must look like",
            )
        formats[fitting[0].name] = fitting[0]
    if len(formats) > 1:
        raise FsgreenError(
            f"the files are of several formats: {'; '.join(formats)}",
            next_step="import those of each format under a --name of their own",
        )
    if not formats:
        raise FsgreenError("no file was given", next_step="fsgreen import-runs FILE --name NAME")
    return next(iter(formats.values()))


def _table(rows: Sequence[Mapping[str, Any]], boundary: Boundary | None) -> pd.DataFrame:
    if not rows:
        raise FsgreenError(
            "no column of these files is a quantity whose unit is known",
            next_step="--map COLUMN=MEANING; docs/imports.md lists the meanings",
        )
    table = pd.DataFrame(rows)
    if "block" in table and table["block"].isna().any():
        raise FsgreenError(
            "some runs have a block and some have none", next_step="map the block of all, or none"
        )
    if _has_energy(table) and boundary is None:
        raise FsgreenError(
            "the files hold energy, but do not say what it includes (rule 19)",
            next_step="--boundary wall, dc-rail, cpu or modelled",
        )
    table["workload"] = table["workload"].fillna(WORKLOAD) if "workload" in table else WORKLOAD
    return table[[column for column in COLUMNS if column in table]]


def _has_energy(table: pd.DataFrame) -> bool:
    return bool({"energy_j", "power_w"} & set(table))


def _other(column: str) -> str:
    """Return the name of a column that is kept aside, where `trial` is taken."""
    return f"{column} (in the file)" if column == "trial" else column


def _aside(rows: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, dtype=str)
    return table if len(table.columns) > 1 else table.iloc[:0]
