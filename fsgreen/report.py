"""The report of a campaign as PDF, typeset by Typst from tables, figures and generated numbers."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from fsgreen import absence, exhibits, papers, paths
from fsgreen.reduce import of_this_version, read_plan
from fsgreen.typeset import typeset

TABLES = ("cells", "effects", "trust", "confounds", "claims", "claim_parts", "interactions")
FOLDERS = ("figures", "interactions", "tables")


def write(campaign: str, *, shipped: bool = False) -> Path:
    """Write `numbers.json` and `report.pdf` into the results of a campaign; return the PDF.

    The text is `paper/STUDY.typ`, or `paper/study.typ` where there is none. Every number in it
    comes from `numbers.json` or a result table (rule 43). The same results give the same bytes: no
    date, no system font.

    `shipped` says whether the pipeline analyses it, so that the paper over all studies shows it.
    Raises FsgreenError if a table or figure has not been made, or the text does not compile.
    """
    texts = paths.texts()
    text = texts.get(f"{read_plan(campaign).study}.typ", texts["study.typ"])
    results = paths.results(campaign)
    with of_this_version(campaign):
        numbers = papers.step(campaign, "numbers").numbers(campaign)
        numbers["figures"] = exhibits.shown(numbers["figures"], results / "figures")
        if shipped:
            exhibits.keep(campaign, numbers)
    (results / "numbers.json").write_text(json.dumps(numbers, indent=1, sort_keys=True) + "\n")
    parts = ["numbers.json", *(f"{name}.csv" for name in TABLES), *FOLDERS]
    made_anew = partial(absence.made_anew, campaign)
    return typeset(text, results / "report.pdf", [results / part for part in parts], made_anew)
