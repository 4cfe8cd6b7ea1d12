"""Answers of the rules for imported runs. Such files cannot answer most rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fsgreen.rules.answer import Answer, Judge, fired, not_asked, quiet, unknown
from fsgreen.rules.catalogue import Rule
from fsgreen.rules.evidence import Evidence
from fsgreen.words import listed

NO_DEVICE = "an import says nothing of the device and who read from it"
NO_TRACE = "no raw trace of power came with the runs"
NO_SERIES = "there is no series inside a run"

UNTOLD: Mapping[int, str] = {
    1: "no plan came with the runs: what was to be compared may have been chosen afterwards",
    2: "whether each run had a file system of its own, or followed others on the same files",
    3: "whether runs of different cells took turns, in an order at random",
    4: "no baseline was declared: drift between runs may look like an effect",
    5: "it takes runs that are known to be of the same blocks, and a bound that was declared",
    6: "what was left out, and why, came with no file",
    7: "whether the cache was cold or warm",
    8: "whether the device was in the state that it should be",
    9: "whether the machine was the same for all runs",
    10: "whether the machine was calm",
    11: "whether the machine was cool before each run",
    12: "whether dirty pages were flushed inside the interval",
    13: NO_TRACE,
    14: NO_TRACE,
    15: f"{NO_TRACE}, nor what is known of its meter",
    16: f"{NO_TRACE}, nor what is known of its meter",
    17: NO_TRACE,
    18: f"idle power: {NO_TRACE}",
    20: "whether work and energy are of the same interval",
    21: NO_TRACE,
    23: NO_SERIES,
    24: NO_SERIES,
    25: "the order of the runs: drift may look like an effect",
    27: "when measuring was to stop: no plan came with the runs",
    32: "whether runs were left out before the files were given",
    37: "whether cells are equal: no bound was declared before the runs were seen",
    39: NO_DEVICE,
    40: NO_DEVICE,
    41: NO_DEVICE,
    42: NO_DEVICE,
    47: NO_SERIES,
    48: "whether runs were started that are not in the files",
    51: "how long the runs are in seconds and blocks, which is what judges need to see anything",
    52: "whether runs depend on those before them: their order is not known",
}
"""For each rule that imported runs cannot answer: the reason, or what is unknown."""


def one_boundary(evidence: Evidence) -> Answer:
    """Rule 19: all runs have the boundary that was given when they were imported."""
    if evidence.trials["energy_j"].isna().all() and evidence.trials["power_w"].isna().all():
        return not_asked("the runs have no energy")
    boundary = evidence.identity["boundary"]
    return quiet(f"{boundary} in every run, as it was said when they were imported")


def files_kept(evidence: Evidence) -> Answer:
    """Rule 22: the imported files still have their hashes."""
    if evidence.altered:
        return fired(f"{len(evidence.altered)} altered: {listed(evidence.altered)}")
    count = len(evidence.identity["imported"]["files"])
    return quiet(f"{count} imported files hashed again: all as they came")


def totals_known(evidence: Evidence) -> Answer | None:
    """Rule 29: the answer if ratios of totals lack a total; None if the usual judge can answer."""
    totals = evidence.trials[["work_ops", "duration_s"]]
    if totals.isna().any(axis=None):
        return unknown("work and time of the runs are not both known: means of what is known")
    return None


def model_of_blocks(evidence: Evidence) -> Answer | None:
    """Rule 36: the answer if no blocks are known, which a mixed model needs; None if they are."""
    if len(evidence.effects) and evidence.trials["block"].isna().any():
        return not_asked("no blocks are known: each pair of cells is compared by Welch's t")
    return None


INSTEAD: Mapping[int, Judge] = {19: one_boundary, 22: files_kept}
"""Judges that replace the usual ones, as an import has no records."""

INSTEAD_REMEDY = {
    19: "one import for each boundary: fsgreen import-runs FILE ... --name NAME --boundary ...",
    22: "bring the files back as they came, or import them again under another --name",
}

BEFORE = {29: totals_known, 36: model_of_blocks}
"""Judges that may answer before the usual judge does."""


OF_THROUGHPUT = (31, 33, 34)
"""Rules on throughput. They are judged on the cells that have it."""


def remedy(campaign: str, evidence: Evidence, rule: Rule) -> str:
    """Return what to do about a rule, given that imported runs cannot be measured again here."""
    if rule.number in UNTOLD:
        return "imported files cannot tell; fsgreen measure records it: docs/studies.md"
    if rule.number in INSTEAD:
        return INSTEAD_REMEDY[rule.number]
    if "{again}" in rule.remedy:
        return f"fsgreen notebook 60_analyse -p campaign {campaign}"
    if any(
        f"{{{name}}}" in rule.remedy
        for name in ("study", "profile", "file", "measure", "enough", "another")
    ):
        return (
            f"bring more runs, all in one import: fsgreen import-runs FILE ... --name {campaign}-2"
        )
    return rule.remedy.format(campaign=campaign)


def judged(number: int, judge: Judge, evidence: Evidence) -> Answer:
    """Return the answer of a rule for imported runs; its usual `judge` answers if it can."""
    if number in UNTOLD:
        return unknown(UNTOLD[number])
    if number in INSTEAD:
        return INSTEAD[number](evidence)
    if number in OF_THROUGHPUT:
        known = evidence.cells["throughput_ops_s"].notna()
        if not known.any():
            return unknown("what the runs did in a second is not known")
        evidence = replace(evidence, cells=evidence.cells[known])
    before = BEFORE[number](evidence) if number in BEFORE else None
    return before or judge(evidence)
