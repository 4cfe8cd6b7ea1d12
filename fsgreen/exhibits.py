"""What a campaign gives to the paper over all studies: what it is, and some of its figures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from fsgreen import paths, schema
from fsgreen.errors import FsgreenError
from fsgreen.figures import shows
from fsgreen.reduce import read_plan, read_table

TAKEN = ("campaign", "boundary", "simulated_disk", "testbed", "setup", "trials", "not_run")
"""The numbers of its report that say what a campaign is."""

MOST_FIGURES = 3
"""Figures of a study of which `paper/article.yaml` says nothing."""


class Told(schema.Declared):
    """What `paper/article.yaml` says of a study: `figures` are names with what to look at."""

    question: str = ""
    system: str = ""
    figures: dict[str, str] = Field(default_factory=dict)


def declared() -> Mapping[str, Told]:
    """Return what is said of each study by hand, in the order of the paper.

    Raises FsgreenError if the file has an unknown key.
    """
    file = paths.texts("*.yaml")["article.yaml"]
    return schema.read(file, "text of the paper", "mend it").as_(dict[str, Told])


def keep(campaign: str, numbers: Mapping[str, Any]) -> Path | None:
    """Put what a campaign gives to the paper beside what the others of its study do.

    A copy that a person tries things on gives nothing.

    Its figures and claims have been made; `numbers` are those of its report. Returns the folder,
    with `about.json` and figures as SVG, or None.
    """
    results = paths.results(campaign)
    if results.parent.name == "scratch":
        return None
    study = read_plan(campaign).study
    folder = paths.exhibits(study) / campaign
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wanted = declared().get(study, Told()).figures
    figures = [
        entry for entry in numbers["figures"] if not wanted or Path(entry["file"]).stem in wanted
    ]
    figures = figures if wanted else figures[:MOST_FIGURES]
    for entry in figures:
        shutil.copy(results / "figures" / entry["file"], folder)
    claims = read_table(campaign, "claims")
    needs = claims.dropna(subset=["needs"]).set_index("slug")["needs"].to_dict()
    about = {name: numbers[name] for name in TAKEN} | {"figures": figures, "needs": needs}
    (folder / "about.json").write_text(json.dumps(about, indent=1, sort_keys=True) + "\n")
    return folder


def shown(figures: list[dict[str, str]], folder: Path) -> list[dict[str, str]]:
    """Return those figures of a report that show something."""
    return [entry for entry in figures if shows(folder / entry["file"])]


def read(study: str, campaigns: list[str]) -> list[dict[str, Any]]:
    """Return what campaigns of a study give, in their order.

    Raises FsgreenError if the report of one has not been made.
    """
    files = [paths.exhibits(study) / name / "about.json" for name in campaigns]
    if missing := [file for file in files if not file.is_file()]:
        raise FsgreenError(
            f"the report of {missing[0].parent.name} has not been made",
            where=missing[0],
            next_step="./run reproduce",
        )
    return [json.loads(file.read_text()) for file in files]
