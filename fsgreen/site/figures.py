"""All figures of the shipped results: what each shows, the claims it carries, and what makes it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fsgreen import paths, schema
from fsgreen.claims import load_claims
from fsgreen.figures import shows
from fsgreen.outcome import KINDS as SPELLED
from fsgreen.pipeline import params

NOTEBOOKS = {"figures": "70_figures", "interactions": "66_interactions"}
"""The notebook that makes the figures in each folder of a campaign's results."""

COMMON = {
    r"recommended_(.+)": "Every configuration against the baseline, {0}.",
    r"confound_offset": "Bandwidth of the bare testbed by place.",
    r"confound_queue": "Throughput of the bare testbed by requests in flight.",
}
"""Figures that any campaign may have, by the name of their file, with what reports say of them."""

OPEN = "not judged yet"
"""What is said of a claim that was stated after the results were made."""

OF_PAPER = re.compile(r"fig(\d+[a-z]?)(?:_|$)")
"""The name of a figure that shows what a numbered one of the paper does."""


class Claim(NamedTuple):
    """A claim that the paper rests on its figure, and what became of it here."""

    name: str
    statement: str
    verdict: str


class Figure(NamedTuple):
    """A figure as SVG, what it shows, and the command that makes it anew.

    `number` is that of the paper's own figure that shows the same, "" where the paper has none;
    `claims` are those that the paper rests on it.
    """

    file: Path
    caption: str
    number: str
    claims: Sequence[Claim]
    command: str


class Group(NamedTuple):
    """The figures of a campaign, or of the ledger of a study that has none; `name` is unique."""

    study: str
    name: str
    about: str
    figures: Sequence[Figure]


def read() -> list[Group]:
    """Return what there is of each campaign and study that ships, in the order of `params.yaml`."""
    groups = []
    shipped = params.campaigns()
    for study in params.studies():
        campaigns = [name for name, one in shipped.items() if one.study == study]
        groups += [_of_campaign(study, name) for name in campaigns]
        of_ledger = _of_ledger(study)
        if of_ledger.figures or not campaigns:
            groups.append(of_ledger)
    return groups


def _of_campaign(study: str, campaign: str) -> Group:
    folder = paths.results(campaign)
    numbers = _numbers(folder)
    if not numbers:
        return Group(study, campaign, _not_made(f"./run reproduce {campaign}"), ())
    in_report = {
        "figures": (*numbers["figures"], *numbers["intervals"]["irregular"]),
        "interactions": numbers["interactions"],
    }
    captions = {
        folder / kind / entry["file"]: entry["caption"]
        for kind, entries in in_report.items()
        for entry in entries
    }
    captions |= dict(_common(folder / "figures"))
    verdicts = _verdicts(folder / "claims.csv")
    figures = []
    for file, caption in captions.items():
        if shows(file):
            command = f"./run notebook {NOTEBOOKS[file.parent.name]} -p campaign {campaign}"
            figures.append(_figure(study, file, caption, verdicts, command))
    return Group(study, campaign, _about(numbers), figures)


def _of_ledger(study: str) -> Group:
    folder, name = paths.ledger(study), f"{study}-ledger"
    numbers = _numbers(folder)
    if not numbers:
        return Group(study, name, _not_made("./run reproduce"), ())
    evaluation = numbers["evaluation"]
    if evaluation is None:
        return Group(study, name, "No campaign ships of this study; nothing is drawn of it.", ())
    verdicts = _verdicts(folder / "claims.csv")
    command = f"./run notebook 95_ledger -p study {study}"
    figures = [
        _figure(study, folder / "figures" / entry["file"], entry["caption"], verdicts, command)
        for entry in evaluation["figures"]
    ]
    about = "No trial is behind these figures: they are of printed numbers and of models."
    return Group(study, name, about, figures)


def _figure(
    study: str, file: Path, caption: str, verdicts: Mapping[str, str], command: str
) -> Figure:
    match = OF_PAPER.match(file.stem)
    number = match[1] if match else ""
    claims = [
        Claim(str(claim["id"]), str(claim["statement"]), verdicts.get(claim["slug"], OPEN))
        for claim in _on_figures(study).get(number, ())
    ]
    return Figure(file, caption, number, claims, command)


@cache
def _on_figures(study: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the claims that a paper rests on each of its figures, by the figure's number."""
    claims = {claim["id"]: claim for claim in load_claims(study).values()}
    document = schema.plain((paths.reference() / "figures.yaml").read_text(encoding="utf-8"))
    return {
        str(figure["number"]): [claims[name] for name in figure["claims"]]
        for figure in document["figures"]
        if figure["paper"] == study
    }


def _common(folder: Path) -> Iterator[tuple[Path, str]]:
    for file in sorted(folder.glob("*.svg")):
        for pattern, caption in COMMON.items():
            if match := re.fullmatch(pattern, file.stem):
                yield file, caption.format(*match.groups())


def _numbers(folder: Path) -> dict[str, Any]:
    """Return the numbers of a report; none where it has not been made."""
    file = folder / "numbers.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}


def _verdicts(file: Path) -> dict[str, str]:
    """Return what became of each claim and by which kind of evidence, by its slug."""
    with file.open(encoding="utf-8", newline="") as table:
        return {
            row["slug"]: row["verdict"]
            + (f" ({SPELLED[row['basis']]})" if row["basis"] not in ("", row["verdict"]) else "")
            for row in csv.DictReader(table)
        }


def _about(numbers: Mapping[str, Any]) -> str:
    """Return where a campaign was measured, at which scale, and what its power is."""
    setup = dict(numbers["setup"])
    parts = {
        "Testbed": setup.get("Testbed", numbers["testbed"]),
        "Disks": setup.get("Disks"),
        "Scale": setup.get("Scale"),
        "Power": numbers["boundary"],
    }
    return "; ".join(f"{name}: {text}" for name, text in parts.items() if text)


def _not_made(command: str) -> str:
    return f"Not made here yet: {command}, then ./run docs"
