"""Results of many machines: a file that a person can send in, and what such files say together."""

from fsgreen.gathered import probably
from fsgreen.gathered.document import read
from fsgreen.gathered.export import results_of, write
from fsgreen.gathered.forest import forest
from fsgreen.gathered.lines import about, lines
from fsgreen.gathered.pools import Gathered, gather
from fsgreen.gathered.tables import keep

__all__ = [
    "Gathered",
    "about",
    "forest",
    "gather",
    "keep",
    "lines",
    "probably",
    "read",
    "results_of",
    "write",
]
