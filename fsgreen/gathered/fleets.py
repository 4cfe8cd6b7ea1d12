"""What the testbeds of a fleet say together, where the pipeline analyses their campaigns."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.analysis.claims.ledger import SIMULATED
from fsgreen.design.members import parted
from fsgreen.durable import whole
from fsgreen.figures import shows
from fsgreen.gathered.export import results_of
from fsgreen.gathered.lines import about, alike, next_says
from fsgreen.gathered.pools import Gathered, differs, gather
from fsgreen.gathered.tables import keep
from fsgreen.reduce import read_plan
from fsgreen.words import plural

ENDING = ".results.json"


def ship(campaign: str) -> Path:
    """Put what a campaign found beside what it says of claims, as `fsgreen export` writes it.

    Raises FsgreenError if the campaign has not been analysed, or its runs were imported.
    """
    file = _exported(read_plan(campaign).study, campaign)
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole(file) as partial:
        partial.write_text(results_of(campaign).text(), encoding="ascii")
    return file


def of_study(study: str) -> Mapping[str, Sequence[str]]:
    """Return the campaigns of each fleet of a study that ship and are analysed here, by its name.

    They are those whose names are FLEET.TESTBED.
    """
    fleets: dict[str, list[str]] = {}
    for file in sorted(_exported(study, "all").parent.glob(f"*{ENDING}")):
        campaign = file.name.removesuffix(ENDING)
        fleet, _ = parted(campaign)
        if fleet and paths.ships(campaign):
            fleets.setdefault(fleet, []).append(campaign)
    return fleets


def write(study: str, folder: Path) -> list[dict[str, Any]]:
    """Write what the testbeds of each fleet of a study say together; return what a report shows.

    In the folder, each fleet has one of its own with the tables, forest plots and text of
    `gathered.keep`; it is empty where the study has no fleet. Returns for each fleet its `name`, a
    `summary` of one line, on what the numbers of each testbed rest (`testbeds`), and `figures`, as
    files below the folder with what they show.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return [
        _written(fleet, [_exported(study, name) for name in campaigns], folder)
        for fleet, campaigns in of_study(study).items()
    ]


def _exported(study: str, campaign: str) -> Path:
    return paths.told(study, campaign, shipped=True).with_name(f"{campaign}{ENDING}")


def _written(fleet: str, exported: Sequence[Path], folder: Path) -> dict[str, Any]:
    pooled = gather(exported)
    made = [file for file in keep(pooled, folder / fleet) if file.suffix == ".svg"]
    return {
        "name": fleet,
        "summary": _summary(fleet, pooled),
        "testbeds": [*_testbeds(pooled), *alike(pooled)],
        "figures": [_figure(file) for file in made if shows(file)],
    }


def _testbeds(pooled: Gathered) -> Iterator[str]:
    for number, (file, results) in enumerate(zip(pooled.files, pooled.results, strict=True), 1):
        yield f"{number}: {file.name.removesuffix(ENDING)}: {about(results)}"


def _summary(fleet: str, pooled: Gathered) -> str:
    """Return how many comparisons testbeds share, in how many they differ, and what is sure."""
    together = pooled.together.to_dict("records")
    apart = sum(differs(row) for row in together)
    sure = sum(next_says(row) in ("more", "less") for row in together)
    simulated = sum(results.testbed.kind in SIMULATED for results in pooled.results)
    of_models = f", {simulated} of them simulated" if simulated else ""
    return (
        f"fleet {fleet}: {plural(len(pooled.files), 'testbed')}{of_models}; "
        f"{plural(len(together), 'comparison')} in a metric that two or more of one kind share: "
        f"they differ by more than their intervals in {apart}; in {sure} it is probable (95 %) on "
        "which side the next machine would be"
    )


def _figure(file: Path) -> dict[str, str]:
    metric = file.stem.removeprefix("forest_")
    return {
        "file": f"{file.parent.name}/{file.name}",
        "caption": f"Ratios of {metric} on each testbed, and where the next would probably be.",
    }
