"""`ARTIFACT.md`: what a committee that evaluates artifacts asks for, out of what ships."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths, schema
from fsgreen.analysis.claims.together import KINDS, claims_together, parts_together
from fsgreen.claims import UNTESTED, load_claims, statements
from fsgreen.design import load_study
from fsgreen.evidence import RERUN, last_took_s
from fsgreen.outcome import said
from fsgreen.papers.judging import NAME, told_or_judged
from fsgreen.pipeline import params
from fsgreen.pipeline.closure import stages
from fsgreen.words import plural

Minutes = Mapping[str, tuple[int, int]]
"""By campaign how long it takes from traces to its report, and to its claims alone."""

KEPT = re.compile(r"<!-- minutes: (.*) -->")

HEAD = """\
# Artifact

<!-- Made by `fsgreen artifact`; a test holds it current. -->

fsgreen re-runs studies of file systems and storage, and judges each of their published claims by
the evidence that there is. This page is for those who evaluate it as an artifact. It is
*available*: it has the MIT licence, and all raw traces are in this repository. It is *functional*:
one command makes every table, figure, verdict and report from the raw traces. It is *reproducible*:
the same command compares what it made with what ships.

## Getting started (5 minutes of your time)

```
./run reproduce {small}     # about {small_min} min of machine time
```

The command ends with a table of verdicts, and with the line `all N outputs (M files) are identical
to those shipped`. The first command also makes the environment in `.venv`, which takes a minute or
two.

## What it needs

- Linux on x86_64 or aarch64, git, Python 3.11 to 3.13 with `venv`, and a package registry for the
  environment.
- No root, no power meter and no disk to format: you need these only to measure anew.
- Disk: about 1 GB for the environment, {checkout} MB for the packed traces, {made} MB for what is
  made of them.

"""

WHOLE = """\
## Everything ({whole} minutes of one core, 1 minute of your time)

```
./run reproduce            # every campaign, side by side, then the ledger of each study
./run outcome              # the results of each: rates, verdicts, rules that fired, what to change
```

| campaign | study | measured on | packed traces, MB | minutes to its report | to its claims |
|---|---|---|---|---|---|
"""

EXPECTED = """\
## Differences to expect

- **None with the same packages.** `requirements.lock` pins them with their hashes. The last lines
  of `./run reproduce` say that all outputs are identical. If some differ, these lines name them,
  and say how many verdicts changed and by how much numbers did.
- **Measuring anew** gives other numbers, because machine, kernel and moment are others.
  `./run compare MINE SHIPPED` puts both side by side with intervals, and says what differs between
  them.

## To measure anew (5 minutes of your time; root for real file systems)

For each claim, `./run claim NUMBER` names the command, the number of trials, and the least time
that they take. `./run measure fast10 --profile first` is a short measurement; without root it works
in a directory.

Licence: MIT (`LICENSE`).
"""


def file() -> Path:
    """Return where the page is."""
    return paths.root() / "ARTIFACT.md"


def write() -> Path:
    """Write the page with the times of the last run here, or, without one, those that it has."""
    kept = minutes_of(file().read_text()) if file().is_file() else {}
    ran = {name: _last_minutes(name) for name in params.campaigns()}
    minutes = {
        name: of_stages if all(of_stages) else kept.get(name, of_stages)
        for name, of_stages in ran.items()
    }
    file().write_text(text(minutes), encoding="utf-8")
    return file()


def minutes_of(page: str) -> Minutes:
    """Return the times that a page has."""
    match = KEPT.search(page)
    return {name: tuple(of) for name, of in json.loads(match[1]).items()} if match else {}


def text(minutes: Minutes) -> str:
    """Return the page, with these times."""
    of_campaigns = params.campaigns()
    sizes = _sizes()
    small = min(of_campaigns, key=lambda name: minutes.get(name, (math.inf,))[0])
    head = HEAD.format(
        small=small,
        small_min=_spelled(minutes, small, 0),
        checkout=_megabytes(sizes, "data/packed/"),
        made=_megabytes(sizes, "data/raw/", "data/results/", "data/ledgers/"),
    )
    whole = WHOLE.format(whole=sum(of[0] for of in minutes.values()))
    rows = [
        f"| `{name}` | {campaign.study} | `{campaign.place}` "
        f"| {_megabytes(sizes, f'data/packed/{name}.tar')} "
        f"| {_spelled(minutes, name, 0)} | {_spelled(minutes, name, 1)} |\n"
        for name, campaign in of_campaigns.items()
    ]
    times = (
        f"\nEach time is that of one core, rounded up. <!-- minutes: {json.dumps(minutes)} -->\n\n"
    )
    claims = "".join(_claims(study, minutes) for study in params.studies())
    return head + whole + "".join(rows) + times + claims + _figures() + EXPECTED


def _claims(study: str, minutes: Minutes) -> str:
    """Return the most telling claims of a study, with verdicts and the command that checks them.

    Of a study of one's own they are only counted: nothing says which are the most telling.
    """
    title, ledger = f"## Claims: {load_study(study).title}\n\n", f"`./run ledger {study}`"
    if not load_claims(study):
        count = plural(len(statements(study)), "claim")
        states = f"The study states {count} of its own; {ledger} lists all of them, with verdicts."
        return f"{title}{states}\n\n"
    told_here = told_or_judged(study, own=False)
    stated = load_claims(study)
    parts = parts_together(told_here)
    said_of = {slug: str(claim["statement"]) for slug, claim in stated.items()}
    verdicts = claims_together(parts, said_of).set_index("slug")
    lines = [
        f"{title}{len(stated)} claims can be checked; {ledger} lists all of them. These "
        "tell most, with a verdict by each kind of evidence (kinds are never added up):\n\n"
        "| claim | what it says | verdict | one command | minutes |\n|---|---|---|---|---|\n"
    ]
    for slug, claim in stated.items():
        if not claim.get("decisive"):
            continue
        row = verdicts.loc[slug]
        kinds = [said(kind, row[kind]) for kind in KINDS if row[kind]]
        campaign = _best(told_here, slug)
        anew = f" --run --campaign {campaign}" if campaign != NAME else ""
        command = f"`./run claim {claim['id']}{anew}`" if campaign else ""
        took = _spelled(minutes, campaign, 1) if campaign not in (None, NAME) else ""
        lines.append(
            f"| {claim['id']} | {said_of[slug]} | {'; '.join(kinds) or row['verdict']} "
            f"| {command} | {took} |\n"
        )
    return "".join(lines) + "\n"


def _best(of_campaigns: Mapping[str, pd.DataFrame], slug: str) -> str | None:
    """Return the first campaign of those with the strongest evidence on a claim."""
    ranks = {}
    for name, table in of_campaigns.items():
        rows = table[table["slug"] == slug]
        decided = rows.loc[~rows["verdict"].isin(UNTESTED), "kind"]
        if len(rows):
            ranks[name] = min((KINDS.index(kind) for kind in decided), default=len(KINDS))
    return min(ranks, key=lambda name: ranks[name], default=None)


def _figures() -> str:
    """Return which published figure is made again where."""
    document = schema.plain((paths.reference() / "figures.yaml").read_text(encoding="utf-8"))
    studies: dict[str, list[str]] = {}
    for name, campaign in params.campaigns().items():
        studies.setdefault(campaign.study, []).append(name)
    rows = [
        f"| {figure['id']} | {figure['subject']} | `./run reproduce {campaigns[0]}` "
        f"| `data/results/{campaigns[0]}/figures/fig{figure['number']}.svg` |\n"
        for figure in document["figures"]
        if (campaigns := studies.get(figure["paper"])) and _is_made(figure)
    ]
    return (
        "## One command for each figure\n\nOther campaigns of the study make the same figures "
        "from their own trials.\n\n| figure | what it shows | command | file |\n|---|---|---|---|\n"
        + "".join(rows)
        + "\n"
    )


def _is_made(figure: Mapping[str, Any]) -> bool:
    """Return whether the room of the paper makes a figure of that number."""
    return str(figure["number"]) in MADE.get(figure["paper"], ())


MADE = {
    "fast10": ("1", *(f"{number}{panel}" for number in "3456" for panel in "ab")),
    "nfstricks03": ("1", "2", "3"),
}
"""The published figures that each paper's room makes again."""


def _last_minutes(campaign: str) -> tuple[int, int]:
    """Return how many minutes a campaign took when it last ran here, rounded up."""
    every = tuple(stages())
    return _up(last_took_s(campaign, every)), _up(last_took_s(campaign, RERUN))


def _up(duration_s: float) -> int:
    return math.ceil(duration_s / 60)


def _spelled(minutes: Minutes, campaign: str, which: int) -> str:
    return str(minutes[campaign][which]) if campaign in minutes else "?"


def _sizes() -> dict[str, int]:
    """Return the bytes of each output, as `dvc.lock` has them."""
    lock = schema.plain((paths.root() / "dvc.lock").read_text(encoding="utf-8"))
    return {
        out["path"]: out["size"]
        for stage in lock["stages"].values()
        for out in stage.get("outs", ())
    }


def _megabytes(sizes: Mapping[str, int], *prefixes: str) -> str:
    total = sum(size for path, size in sizes.items() if path.startswith(prefixes))
    return f"{math.ceil(total / 1e6)}"
