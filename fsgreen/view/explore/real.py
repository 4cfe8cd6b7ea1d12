"""Is the difference of two cells real? Effect, interval, equivalence, confounds, precondition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fsgreen import audit, reduce
from fsgreen.analysis.contrast import OUTCOMES
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.errors import FsgreenError
from fsgreen.results import Results
from fsgreen.stats import LEVEL, Estimate
from fsgreen.view.explore.chart import Row, Rows, interval, number, probability, ratio_of
from fsgreen.view.explore.lines import Lines, Runner, Shown, spelled
from fsgreen.view.explore.pair import MARK, Pair, contrast_lines, opened

NOT_DECLARED = (
    "The study does not compare these two: they were picked after a look at the data, and no "
    "p-value here is corrected for that. Take it as a hint, and measure it again."
)


@dataclass(frozen=True)
class Check:
    """A question about a difference, its answer in a word (yes, no, unknown), and the evidence."""

    question: str
    answer: str
    evidence: str


def effect(runner: Runner, pair: Pair) -> Shown:
    """Return how far apart the cells are: as the study compares them, if it does.

    Raises
    ------
    FsgreenError
        If they are of different workloads, whose operations are different things.
    """
    if "workload" in pair.differ:
        raise FsgreenError(
            "operations of different workloads are different things",
            next_step="choose two cells of one workload",
        )
    for one in (pair, Pair(pair.other, pair.one)):
        if (lines := _declared(runner, one)) and len(table := runner.run(lines)):
            return _shown(one, lines, table, "")
    if pair.in_blocks and not any(spot.levels.get("load_ops_s") for spot in (pair.one, pair.other)):
        lines = _not_declared(pair)
        return _shown(pair, lines, runner.run(lines), NOT_DECLARED)
    lines = contrast_lines(pair)
    making = f"{lines.making}view = view[view['quantity'].isin({list(OUTCOMES)})]\n"
    lines = Lines(lines.campaigns, lines.opening, making)
    note = (
        NOT_DECLARED
        if pair.in_blocks
        else (
            "The two are of different campaigns, measured at other times: what changed in between "
            "is part of the difference."
        )
    )
    return _shown(pair, lines, runner.run(lines), note)


def checks(runner: Runner, pair: Pair, effects: pd.DataFrame) -> Iterator[Check]:
    """Yield what stands for and against a difference in throughput.

    Parameters
    ----------
    runner : Runner
        What reads the tables.
    pair : Pair
        The two cells.
    effects : DataFrame
        The table of `effect`.
    """
    name = "metric" if "metric" in effects else "quantity"
    of_speed = effects[effects[name].str.startswith("throughput")]
    if of_speed.empty:
        yield Check("Is there a difference?", "unknown", "their throughput was not compared")
        return
    row = of_speed.iloc[0].to_dict()
    yield from _of_effect(row)
    results = _results(runner, pair)
    yield _of_confounds(pair, row, results[0])
    yield from _of_state(pair, results)
    yield _of_machine(pair, results)
    boundaries = {str(one.identity["boundary"]) for one in results}
    modelled = "modelled" in boundaries
    yield Check(
        "Were watts measured?",
        "no" if modelled else "yes",
        "they are modelled, and decide no claim about power (rule 19)"
        if modelled
        else f"at the boundary {', '.join(sorted(boundaries))}",
    )


def _declared(runner: Runner, pair: Pair) -> Lines | None:
    """Return lines that look both cells up among the comparisons of the study, if it has such."""
    if not pair.in_blocks or pair.one.levels.get("load_ops_s") is not None:
        return None
    columns = _results(runner, pair)[0].effects.columns
    compared = [name for name in pair.one.levels if f"baseline_{name}" in columns]
    same = {n: level for n, level in pair.one.levels.items() if n in columns and n not in compared}
    if set(pair.differ) - set(compared):
        return None
    one, other = ({name: spot.levels[name] for name in compared} for spot in (pair.one, pair.other))
    opening = f"""
import fsgreen
from fsgreen import reduce

effects = fsgreen.open({pair.one.campaign!r}).effects
"""
    making = f"""
same, one, other = {spelled(same)}, {spelled(one)}, {spelled(other)}
view = effects[reduce.at(effects, {{**same, **one}})]
view = view[reduce.at(view, {{f"baseline_{{name}}": level for name, level in other.items()}})]
"""
    return Lines(pair.campaigns, opening, making)


NOT_DECLARED_LINES = """
from fsgreen.analysis.effects import effects_table
from fsgreen.design import Cell, metrics

treatments = {treatments}
pair = ("chosen here", {workload!r}, *(Cell(**cell).only(treatments) for cell in cells))
trials = opened[0].trials
trials = trials[trials["workload"] == {workload!r}]
view = effects_table(trials, [pair], opened[0].plan.bounds, treatments, metrics.USUAL)
"""


def _not_declared(pair: Pair) -> Lines:
    """Return lines that compare both cells as the analysis compares those of the study."""
    treatments = [*dict.fromkeys([*TREATMENTS, *pair.differ])]
    workload = pair.one.levels["workload"]
    return opened(pair, NOT_DECLARED_LINES.format(treatments=treatments, workload=workload))


def _results(runner: Runner, pair: Pair) -> list[Results]:
    results: list[Results] = runner.opened(opened(pair, ""))["opened"]
    return results


def _shown(pair: Pair, lines: Lines, table: pd.DataFrame, note: str) -> Shown:
    bound = float(table["bound_percent"].iloc[0]) / 100 if "bound_percent" in table else math.nan
    band = (1 - bound, 1 / (1 - bound)) if bound == bound else None
    rows = [_row(row, band) for row in table.to_dict("records")]
    modelled = "modelled" in set(table.get("boundary", ()))
    axis = f"{pair.one.name} over {pair.other.name}, ratio with 95 % interval"
    if band:
        axis += f"; grey: less than {100 * bound:g} % apart"
    chart = Rows(axis, rows, "x", False, "modelled power" * modelled)
    says = " ".join(filter(None, (_says(pair, table), note)))
    return Shown(f"effect-{pair.name}", lines, table, says, chart)


def _row(row: Mapping[str, Any], band: tuple[float, float] | None) -> Row:
    ends = ratio_of(row)
    name, word = str(row.get("metric", row.get("meaning"))), _outcome(row)
    says = f"{interval(*ends, 'x')} {word}"
    return Row(name, says, *ends, MARK, f"{name}: {says}", word == "different", band)


def _outcome(row: Mapping[str, Any]) -> str:
    """Return the outcome of a comparison in a word that people know."""
    if "outcome" in row:
        return "no steady state" if row["outcome"] == "inconsistent" else str(row["outcome"])
    return "different" if row["told_apart"] else "inconclusive"


def _says(pair: Pair, table: pd.DataFrame) -> str:
    name = "metric" if "metric" in table else "quantity"
    of_speed = table[table[name].str.startswith("throughput")].to_dict("records")
    if not of_speed:
        return f"{pair.one.name} and {pair.other.name} were not compared in their throughput."
    (row, *_), word = of_speed, _outcome(of_speed[0])
    text = {
        "different": "the two differ",
        "equivalent": "the two are equivalent within the bound of the plan",
        "no steady state": "a cell has no steady state, so there is no verdict (rule 24)",
    }.get(word, "that is neither told from chance nor shown to be no difference")
    ratio = interval(*ratio_of(row))
    return (
        f"{pair.one.name} does {ratio} times as many operations per second as {pair.other.name}: "
        f"{text}."
    )


def _of_effect(row: Mapping[str, Any]) -> Iterator[Check]:
    word = _outcome(row)
    p = f"{probability(row['difference_holm_p'])} after Holm, n = {row['n']}"
    there = {"different": "yes", "equivalent": "no"}.get(word, "unknown")
    yield Check("Is there a difference?", there, f"{word}: {p}")
    if "equivalence_holm_p" in row:
        equal, bound = row["equivalence_holm_p"], row["bound_percent"] / 100
        _, low, high = ratio_of(row)
        beyond = high < 1 - bound or low > 1 / (1 - bound)
        yield Check(
            f"Is it less than {100 * bound:g} %?",
            "yes" if equal < LEVEL else "no" if beyond else "unknown",
            f"{probability(equal)} of a test of equivalence; the bound was declared in the plan",
        )


def _of_confounds(pair: Pair, row: Mapping[str, Any], results: Results) -> Check:
    question = "May something else have made it?"
    if not pair.in_blocks:
        return Check(question, "unknown", "campaigns differ in more than these two cells")
    state, reason = row.get("gate"), row.get("gate_reason")
    if state is None:
        try:
            one, other = (results.plan.levels(spot.cell) for spot in (pair.one, pair.other))
            ratio = Estimate(*ratio_of(row), row["n"])
            ruling = results.gate.rule(one, other, pair.differ, ratio)
            state, reason = ruling.state, ruling.reason
        except FsgreenError as error:
            return Check(question, "unknown", error.what)
    answers = {"passed": "no", "flagged": "yes"}
    known = isinstance(reason, str) and reason
    return Check(
        question,
        answers.get(str(state), "unknown"),
        str(reason) if known else "every known confound was the same on both sides",
    )


def _of_state(pair: Pair, results: list[Results]) -> Iterator[Check]:
    """Yield whether both cells were steady, and began in the state that the plan names."""
    trials = [
        of.trials[reduce.at(of.trials, spot.levels)]
        for of, spot in zip(results, (pair.one, pair.other), strict=True)
    ]
    counts = [int((of_cell["steady"] == "no steady state").sum()) for of_cell in trials]
    told = ", ".join(
        f"{spot.name}: {len(of_cell) - count} of {len(of_cell)} trials"
        for spot, of_cell, count in zip((pair.one, pair.other), trials, counts, strict=True)
    )
    yield Check("Were both steady while measured?", "no" if any(counts) else "yes", told)
    yield _of_begin(pair, trials)


def _of_begin(pair: Pair, trials: list[pd.DataFrame]) -> Check:
    """Return whether caches and device were as the plan wants them (rules 7 and 8)."""
    texts, sound = [], True
    for spot, of_cell in zip((pair.one, pair.other), trials, strict=True):
        resident = of_cell["resident_percent"].dropna()
        caches = ", ".join(sorted(of_cell["cache"].dropna().astype(str).unique()))
        devices = ", ".join(sorted(of_cell["device"].dropna().astype(str).unique()))
        most = f"up to {number(resident.max(), '%')} of the files in it"
        told = most if len(resident) else "what was in it is not recorded"
        texts.append(f"{spot.name}: cache {caches or '?'} ({told}), device {devices or '?'}")
        sound &= len(resident) == len(of_cell)
    return Check(
        "Did both begin in a known state?", "yes" if sound else "unknown", "; ".join(texts)
    )


def _of_machine(pair: Pair, results: list[Results]) -> Check:
    question = "Was it the same machine throughout?"
    try:
        starts = [
            of.trial(name).audit()["start"]
            for of, spot in zip(results, (pair.one, pair.other), strict=True)
            for name in of.trials.loc[reduce.at(of.trials, spot.levels), "trial"]
        ]
    except (FsgreenError, KeyError) as error:
        return Check(question, "unknown", str(error).splitlines()[0])
    changed = audit.differences(starts)
    if not changed:
        return Check(question, "yes", f"{len(starts)} audits agree")
    told = "; ".join(f"{key}: {', '.join(map(str, values))}" for key, values in changed.items())
    return Check(question, "no", told)
