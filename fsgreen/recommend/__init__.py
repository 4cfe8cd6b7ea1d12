"""Which file system and options to choose for a workload, in the form of fast10's table 3."""

from fsgreen.recommend.changes import change
from fsgreen.recommend.constraints import Constraints, parse
from fsgreen.recommend.results import advice, percent, read, write
from fsgreen.recommend.table import candidates, recommend, workload_named

__all__ = [
    "Constraints",
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
