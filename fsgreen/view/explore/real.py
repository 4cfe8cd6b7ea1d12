"""Is the difference of two cells real? Chance, equivalence, confounds, state, machine, meter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fsgreen import audit, reduce
from fsgreen.errors import FsgreenError
from fsgreen.results import Results
from fsgreen.stats import LEVEL, WHOLE, Estimate
from fsgreen.view.explore.chart import number, probability, ratio_of
from fsgreen.view.explore.effect import of_speed, outcome, results_of
from fsgreen.view.explore.lines import Runner
from fsgreen.view.explore.pair import Pair
from fsgreen.words import plural

STEADY = {
    "steady": "Did both work steadily while measured?",
    "steady_power": "Was the power of both steady, too?",
}
"""What is asked of a trial's series, by the column that says whether it was steady. Without steady
work there is no verdict, and without steady power none on work per joule (rule 24)."""


@dataclass(frozen=True)
class Check:
    """A question about a difference, its answer in a word (yes, no, unknown), and the evidence."""

    question: str
    answer: str
    evidence: str


def checks(runner: Runner, pair: Pair, effects: pd.DataFrame) -> Iterator[Check]:
    """Yield what speaks for and against a difference in throughput, by the effects shown."""
    if (row := of_speed(effects)) is None:
        yield Check("Is there a difference?", "unknown", "their throughput was not compared")
        return
    yield from _of_effect(row)
    results = results_of(runner, pair)
    yield _of_confounds(pair, row, results[0])
    yield from _of_state(pair, results)
    yield _of_machine(pair, results)
    boundaries = {str(result.identity["boundary"]) for result in results}
    modelled = "modelled" in boundaries
    yield Check(
        "Were watts measured?",
        "no" if modelled else "yes",
        "they are modelled, and decide no claim about power (rule 19)"
        if modelled
        else f"at the boundary {', '.join(sorted(boundaries))}",
    )


def _of_effect(row: Mapping[str, Any]) -> Iterator[Check]:
    word = outcome(row)
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
            f"{_equivalence(equal, row['n'])}; the bound was declared in the plan",
        )


def _equivalence(p: float, n: int) -> str:
    if math.isnan(p):
        return f"equivalence not tested: {plural(n, 'trial')}"
    return f"equivalence: {probability(p)}"


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
        str(reason) if known else "no known confound differed between the two",
    )


def _of_state(pair: Pair, results: list[Results]) -> Iterator[Check]:
    """Yield whether both cells were steady, and began in the state that the plan names.

    Work that is done to its end need not be steady.
    """
    trials = [
        of.trials[reduce.at(of.trials, spot.levels)]
        for of, spot in zip(results, (pair.one, pair.other), strict=True)
    ]
    for column, question in STEADY.items():
        if all(column in of_cell and {*of_cell[column]} != {WHOLE} for of_cell in trials):
            yield _of_series(pair, [of_cell[column] for of_cell in trials], question)
    yield _of_begin(pair, trials)


def _of_series(pair: Pair, states: list[pd.Series], question: str) -> Check:
    """Return whether the trials of both cells were steady; unknown if some were too short."""
    counts = [
        (
            len(of_cell),
            int((of_cell == "no steady state").sum()),
            int((of_cell.isna() | (of_cell == "too short")).sum()),
        )
        for of_cell in states
    ]
    told = ", ".join(
        f"{spot.name}: {count - moving - short} of {count} trials"
        for spot, (count, moving, short) in zip((pair.one, pair.other), counts, strict=True)
    )
    moved = any(moving for _, moving, _ in counts)
    unknown = any(short for _, _, short in counts)
    answer = "no" if moved else "unknown" if unknown else "yes"
    return Check(question, answer, told)


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
