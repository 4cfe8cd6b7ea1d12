"""Synthetic servers that claims of fast10 are put to the test on: never shipped, never a result."""

from dataclasses import replace
from functools import cache, cached_property

import synthetic

from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import judge_claims, parts_of
from fsgreen.papers.fast10.claims import CHECKS
from fsgreen.papers.fast10.published import RECOMPUTED
from fsgreen.papers.fast10.reference import PAPER, Printed

CELLS = [
    *synthetic.cells(list(synthetic.RATE), list(synthetic.SPEED)),
    *synthetic.cells(["webserver"], ["ext3"], ["dtlg", "wrbck"]),
]
OPTIONS = {
    "ext2": ["noatime", "blk1k", "blk2k", "isz1k", "bg16k"],
    "ext3": ["noatime", "dtlg", "wrbck", "blk1k", "blk2k", "isz1k", "bg16k"],
    "xfs": ["noatime", "blk1k", "blk2k", "isz1k", "blk2k+agcnt64"]
    + [f"agcnt{count}" for count in (8, 16, 32, 64, 128)],
}
OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)


class Campaign(Source):
    """What `Servers` is, but its cells are computed once a claim looks at them: one does."""

    @cached_property
    def cells(self):
        return cells_table(self.trials, synthetic.BOUNDS)


def campaign(of=CELLS, boundary="modelled", **frame):
    trials = synthetic.trials_frame(of, boundary=boundary, **frame)
    return Campaign(trials, 0.05, OF_PAPER.needs, boundary)


@cache
def usual():
    """The campaign of all defaults, which no test changes."""
    return campaign()


def with_options(**frame):
    """Every option of the file systems that are left, under every server."""
    of = synthetic.cells(list(synthetic.RATE), list(OPTIONS))
    for file_system, names in OPTIONS.items():
        of += synthetic.cells(list(synthetic.RATE), [file_system], names)
    return campaign(of, **frame)


def found_in(source, **state):
    """The same campaign with other values in columns that tell a state."""
    return replace(source, trials=source.trials.assign(**state))


def with_cells(source, cells):
    """The same campaign with another table of its cells."""
    other = replace(source)
    vars(other)["cells"] = cells
    return other


def judge_all(source, testbed="loop", printed=None, claims=OF_PAPER):
    """The parts of every claim as the report gets them."""
    sources = {testbed: source}
    return judge_claims(claims, sources, CHECKS, RECOMPUTED, printed or Printed.load())


def ledger_of(slug, source, testbed="loop"):
    """The parts of one claim as the report gets them."""
    alone = replace(OF_PAPER, stated={slug: OF_PAPER.stated[slug]})
    return judge_all(source, testbed, claims=alone)[slug]


def put_to_test(slug, source):
    """The parts of one claim, wherever it may be decided."""
    return parts_of(OF_PAPER, slug, source, CHECKS)
