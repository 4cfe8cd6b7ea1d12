"""Which file system and options to choose for a workload, in the form of fast10's table 3."""

from fsgreen.recommend.changes import HAZARDS, KINDS, Change, change
from fsgreen.recommend.constraints import KNOWN, Constraints, parse
from fsgreen.recommend.results import Source, advice, percent, read, write
from fsgreen.recommend.table import candidates, recommend, workload_named

__all__ = [
    "HAZARDS",
    "KINDS",
    "KNOWN",
    "Change",
    "Constraints",
    "Source",
    "advice",
    "candidates",
    "change",
    "parse",
    "percent",
    "read",
    "recommend",
    "workload_named",
    "write",
]
