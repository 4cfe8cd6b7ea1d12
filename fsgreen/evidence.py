"""One claim with all the evidence that there is: statement, verdicts, cells, cost and commands."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from fsgreen import paths, schema
from fsgreen.analysis.claims.selectors import selected
from fsgreen.analysis.claims.together import KINDS, claims_together, parts_together
from fsgreen.analysis.claims.told import told
from fsgreen.claims import UNTESTED, statements, written
from fsgreen.design import Cell
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError, unknown
from fsgreen.outcome import KINDS as SPELLED
from fsgreen.outcome import said
from fsgreen.papers.judging import NAME, claims_of, sources_of, told_or_judged
from fsgreen.pipeline import params
from fsgreen.pipeline.closure import stages
from fsgreen.pipeline.shipped import committed
from fsgreen.reduce import read_plan, read_table
from fsgreen.words import plural

RERUN = ("reduce", "analyse", "claims")
"""The stages between traces and a verdict."""


class Claim(NamedTuple):
    """A claim of a paper, or of a study of one's own."""

    study: str
    slug: str
    statement: str
    entry: Mapping[str, Any]
    """As `data/reference/claims.yaml` has it; empty for a study of one's own."""


def every() -> Iterator[Claim]:
    """Yield the claims of all papers, then those of studies of one's own."""
    text = (paths.reference() / "claims.yaml").read_text()
    loaded = schema.plain(text)["claims"]
    for entry in loaded:
        yield Claim(entry["paper"], entry["slug"], str(entry["statement"]), entry)
    for file in sorted((paths.root() / "studies").glob("*/claims.yaml")):
        study = file.parent.name
        for slug, statement in statements(study).items():
            yield Claim(study, slug, statement, {})


def find(name: str) -> Claim:
    """Return a claim by its slug, or by the number that the paper's claims have (`fast10-62`).

    Raises FsgreenError if there is none.
    """
    known = []
    for claim in every():
        if name in (claim.slug, claim.entry.get("id")):
            return claim
        known += [claim.slug, *([claim.entry["id"]] if claim.entry else [])]
    raise unknown("claim", name, known, next_step="fsgreen list claims")


def campaign_of(claim: Claim) -> str | None:
    """Return the campaign with the strongest evidence on a claim, of several the smallest.

    Trials in another state than the claim's come last. None if no campaign has been judged here.
    """

    def rank(campaign: str) -> tuple[int, bool, int]:
        rows = tables[campaign][tables[campaign]["slug"] == claim.slug]
        kinds = rows.loc[~rows["verdict"].isin(UNTESTED), "kind"]
        strongest = min((KINDS.index(kind) for kind in kinds), default=len(KINDS))
        return strongest, rows.empty, len(read_plan(campaign).trials)

    tables = told(claim.study, own=True)
    return min((name for name in tables if _analysed(name)), key=rank, default=None)


def lines(claim: Claim, campaign: str | None = None) -> Iterator[str]:
    """Yield what is known of a claim.

    `claim` is as `find` gives it. Told are the cells and costs of `campaign`; by default of
    `campaign_of`. Raises FsgreenError if the campaign has not been analysed, or is one of another
    study.
    """
    yield from _published(claim)
    tables = told_or_judged(claim.study, own=True)
    if not tables:
        yield f"ours: no campaign of {claim.study} has been judged here; ./run reproduce"
        return
    yield from _verdicts(claim, tables)
    if NAME in tables:
        yield from _without(claim)
        return
    chosen = campaign or campaign_of(claim)
    if chosen is None:
        return
    if (study := read_plan(chosen).study) != claim.study:
        raise FsgreenError(
            f"{chosen} is a campaign of {study}, and {claim.slug} a claim of {claim.study}",
            next_step=f"one of: {', '.join(tables)}",
        )
    yield from _cells(claim, chosen)
    yield from _expected(claim, tables)
    yield from _commands(claim, chosen)


def _published(claim: Claim) -> Iterator[str]:
    entry = claim.entry
    where = [f"section {entry['section']}"] if entry.get("section") else []
    where += entry.get("figure_or_table", [])
    number = f"{entry['id']} " if entry else ""
    yield f"{number}{claim.slug}" + (f" ({', '.join(where)})" if where else "")
    yield f"  {claim.statement}"
    numbers = [
        f"{written(number)} ({number['subject']} over {number['baseline']})"
        for number in entry.get("numbers", ())
        if "value" in number and "subject" in number and "baseline" in number
    ]
    if numbers:
        yield f"published: {'; '.join(numbers)}"


def _verdicts(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield the verdict by each kind of evidence, and what every campaign found of each part."""
    parts = parts_together(tables)
    parts = parts[parts["slug"] == claim.slug]
    (row,) = claims_together(parts, {claim.slug: claim.statement}).to_dict("records")
    of_kinds = [said(kind, row[kind]) for kind in KINDS if row[kind]]
    yield f"verdict, by kind of evidence (never added up): {'; '.join(of_kinds) or row['verdict']}"
    bands = pd.concat(tables.values()).drop_duplicates(["slug", "part", "published"])
    bands = bands.set_index(["slug", "part"])
    for part in parts.to_dict("records"):
        band = bands.loc[[(claim.slug, part["part"])]].iloc[0]
        agrees = _agrees(band["band_low_x"], band["band_high_x"], band["unit"])
        published = f"; published {part['published']}{agrees}" if part["published"] else ""
        yield f"  {part['part']} ({SPELLED[part['kind']]}{published}): {part['verdict']}"
        yield from (f"    {name}: {part[name]}" for name in tables if part[name])


def _without(claim: Claim) -> Iterator[str]:
    """Yield what a test would take, of a study that has no campaign."""
    claims = claims_of(claim.study)
    if needs := "; ".join(claims.needs[name] for name in claims.entries[claim.slug].needs):
        yield f"a test would take: {needs}"
    yield f"no campaign of {claim.study} ships; to measure one: fsgreen plan {claim.study}"


def _agrees(low: float, high: float, unit: object) -> str:
    """Return which of our numbers would agree, as people write it; "" where that is no number."""
    if math.isnan(low) or unit not in ("x", "change"):
        return ""

    def spelled(end: float) -> str:
        return f"{100 * (end - 1):+.3g} %" if unit == "change" else f"{end:.3g}"

    ends = [spelled(low)] if low > 0 else []
    ends += [spelled(high)] if math.isfinite(high) else []
    words = " to ".join(ends) if len(ends) == 2 else f"{'above' if low > 0 else 'below'} {ends[0]}"
    return f", agrees if {words}"


def _cells(claim: Claim, campaign: str) -> Iterator[str]:
    """Yield the cells that a campaign has for a claim, and what else a test would take."""
    claims = claims_of(claim.study)
    entry = claims.entries[claim.slug]
    trials: dict[str, int] = {}
    for source in sources_of(campaign, claims).values():
        numbers = claims.stated[claim.slug]["numbers"]
        for part in selected(entry, numbers, source, claims.cells, claims.states):
            for cell in part.cells:
                trials[source.spelled(Cell(**cell))] = len(source.cell(Cell(**cell)))
    if trials:
        counted = (f"{cell} ({count})" for cell, count in sorted(trials.items()))
        yield f"cells in {campaign}, with their trials: {', '.join(counted)}"
    elif not entry.check:
        yield f"cells in {campaign}: none; no verdict of it rests on a trial"
    if entry.check:
        yield f"it asks all trials of {campaign}, by the check {entry.check}"
    table = read_table(campaign, "claims").set_index("slug")
    if isinstance(needs := table.loc[claim.slug, "needs"], str) and needs:
        yield f"a test in {campaign} would take: {needs}"


def _expected(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield whether what was found here is what ships."""
    shipped = [name for name in tables if name in params.campaigns()]
    files = [paths.told(claim.study, name, shipped=True) for name in shipped]
    known = {file: committed(file) for file in files if file.is_relative_to(paths.root())}
    if other := [file.stem for file, text in known.items() if text and text != file.read_text()]:
        yield f"expected: the numbers that ship of {', '.join(other)} differ: git diff data/ledgers"
    elif any(known.values()):
        yield "expected: the verdicts and numbers above; they are those that ship"


def _commands(claim: Claim, campaign: str) -> Iterator[str]:
    """Yield how to come by the verdict again, and what that costs person and machine."""
    shipped, plan = params.campaigns().get(campaign), read_plan(campaign)
    name = claim.entry.get("id", claim.slug)
    if shipped is not None:
        last = f", {spell(took_s)} when it last ran" if (took_s := last_took_s(campaign)) else ""
        yield (
            f"to analyse it again: fsgreen claim {name} --run (1 min of yours{last}; "
            f"{', '.join(RERUN)} of {campaign}, no other stage)"
        )
    place = f" {shipped.place}" if shipped is not None else ""
    yield (
        f"to measure it again: fsgreen measure {plan.study} --profile {plan.profile.name}{place} "
        f"--name {campaign}-again (5 min of yours, {plural(len(plan.trials), 'trial')}, at least "
        f"{spell(plan.profile.least_trial_s * len(plan.trials))})"
    )


def last_took_s(campaign: str, only: tuple[str, ...] = RERUN) -> float:
    """Return how long stages of a campaign took when they last ran; 0 if they did not."""
    folder = paths.results(campaign) / "notebooks"
    files = [
        folder / f"{notebook.stem}.ipynb" for name, notebook in stages().items() if name in only
    ]
    notebooks = (json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file())
    return sum(notebook["metadata"]["papermill"]["duration"] for notebook in notebooks)


def _analysed(campaign: str) -> bool:
    return (paths.results(campaign) / "claims.csv").is_file() and (
        paths.raw(campaign) / paths.PLAN
    ).is_file()
