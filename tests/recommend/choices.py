"""A small campaign without a meter, and what is recommended from it."""

import synthetic

from fsgreen import recommend
from fsgreen.papers.cells import cells_table
from fsgreen.papers.effects import Config

NOW = Config("ext3")
CELLS = [
    *synthetic.cells(["varmail"], ["ext2", "ext3", "xfs"]),
    *synthetic.cells(["varmail"], ["ext3"], ["noatime", "dtlg", "wrbck", "blk1k", "blk2k"]),
]


def tables(of=CELLS, **frame):
    trials = synthetic.trials_frame(of, **frame)
    return trials, cells_table(trials, synthetic.BOUNDS)


def made(*constraints, now=NOW, of=CELLS, **frame):
    """The recommendation on a synthetic campaign, a row per metric and configuration."""
    wanted = recommend.parse(constraints, ["ext2", "ext3", "xfs"])
    return recommend.recommend(
        *tables(of, **frame), "varmail", synthetic.BOUNDS, now, wanted
    ).set_index(["metric", "file_system", "option"])


def of_throughput(table):
    return table.loc["throughput"]
