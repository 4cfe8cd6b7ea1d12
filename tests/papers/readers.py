"""Readers that claims of nfstricks03 are put to the test on: never shipped, never a result."""

from dataclasses import replace

from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.ledger import judge_claims
from fsgreen.claims import combine
from fsgreen.papers.nfstricks03.claims import CHECKS
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.reference import PAPER, Printed
from fsgreen.papers.nfstricks03.sources import Readers

OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)

DISK = """
[geometry]
zones = [{ cylinders = 10, sectors_per_track = 900 }, { cylinders = 10, sectors_per_track = 580 }]
"""


def source(runs, **more):
    return Readers.of(runs, 0.05, OF_PAPER.needs, **more)


def ledger_of(sources, *slugs):
    """The parts of these claims, of all where none is named."""
    stated = {slug: OF_PAPER.stated[slug] for slug in slugs or OF_PAPER.stated}
    claims = replace(OF_PAPER, stated=stated)
    return judge_claims(claims, sources, CHECKS, RECOMPUTED, Printed.load())


def judged(runs, *slugs, testbed="simdisk", zones=()):
    return ledger_of({testbed: source(runs, zones=dict(zones))}, *slugs)


def parts_of(runs, slug):
    return judged(runs, slug)[slug]


def verdicts(runs, *slugs, **options):
    return {slug: combine(parts)[0] for slug, parts in judged(runs, *slugs, **options).items()}


def slower(runs, factor, **levels):
    """Runs in which the trials of these levels take longer."""
    trials = runs.trials.copy()
    rows = trials[list(levels)].eq(list(levels.values())).all(axis="columns")
    trials.loc[rows, "duration_s"] *= factor
    trials.loc[rows, "bandwidth_b_s"] /= factor
    finishes = runs.finishes.copy()
    named = finishes["trial"].isin(trials.loc[rows, "trial"])
    finishes.loc[named, "ended_s"] *= factor
    return replace(runs, trials=trials, finishes=finishes)
