"""Synthetic campaigns of fast10, for tests of its figures and tables."""

import synthetic

from fsgreen import design
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.papers.fast10.reference import WORKLOADS, Printed

PRINTED = Printed.load()
LOADS = [
    design.Cell(workload="webserver", file_system=fs, load_ops_s=x)
    for fs in ("ext2", "xfs")
    for x in (2e3, 5e3)
]
CELLS = [
    *synthetic.cells(WORKLOADS, ["ext2", "ext3", "xfs"]),
    *synthetic.cells(["webserver"], ["ext3"], ["dtlg", "wrbck"]),
    *LOADS,
]


def made_once(make):
    """What a campaign makes of its cells and their frame, as copies of what was made once."""
    made = {}

    def given(of=CELLS, **frame):
        asked = repr(of), repr(sorted(frame.items()))
        if asked not in made:
            made[asked] = make(of, **frame)
        return tuple(table.copy() for table in made[asked])

    return given


@made_once
def campaign(of, **frame):
    """The tables `trials.csv` and `cells.csv`; `frame` goes to `synthetic.trials_frame`."""
    trials = synthetic.trials_frame(of, **frame)
    return trials, cells_table(trials, synthetic.BOUNDS)


@made_once
def tables(of, **frame):
    """The tables `cells.csv` and `effects.csv` of the same."""
    trials, cells = campaign(of, **frame)
    return cells, effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
