"""A small campaign without a meter, and what is recommended from it."""

import synthetic

from fsgreen import confounds, recommend
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.configuration import configuration

NOW = configuration("ext3")
CELLS = [
    *synthetic.cells(["varmail"], ["ext2", "ext3", "xfs"]),
    *synthetic.cells(["varmail"], ["ext3"], ["noatime", "dtlg", "wrbck", "blk1k", "blk2k"]),
]


def tables(of=CELLS, **frame):
    trials = synthetic.trials_frame(of, **frame)
    return trials, cells_table(trials, synthetic.BOUNDS)


def gate_of(trials, apart=(), size_percent=900.0):
    """The gate of a campaign that held all alike, but the read-ahead of some options."""
    rows = trials.assign(**dict.fromkeys(confounds.KNOWN, "alike"))
    rows.loc[rows["option"].isin(apart), "read-ahead"] = "0 KiB"
    size = confounds.Size(size_percent, size_percent, size_percent, 1.0, 1e-6)
    return confounds.Gate(rows, dict.fromkeys(confounds.KNOWN, size))


def made(*constraints, now=NOW, of=CELLS, **frame):
    """The recommendation on a synthetic campaign, a row per metric and configuration."""
    return ranked(*tables(of, **frame), *constraints, now=now)


def ranked(trials, cells, *constraints, now=NOW, gate=None):
    """The recommendation from these tables, nothing of which is endangered if no gate is given."""
    wanted = recommend.parse(constraints, ["ext2", "ext3", "xfs"])
    gate = gate or gate_of(trials)
    return recommend.recommend(
        trials, cells, "varmail", synthetic.BOUNDS, gate, now, wanted
    ).set_index(["metric", "file_system", "option"])


def of_throughput(table):
    return table.loc["throughput"]
