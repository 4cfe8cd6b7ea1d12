"""Settings of the machine that disturb a measurement: shown, changed, and always put back."""

from fsgreen.audit.tree import HERE, Tree
from fsgreen.host.change import Row, applied, apply, before, look, restore
from fsgreen.host.holder import run
from fsgreen.host.journal import pending
from fsgreen.host.putback import Outcome
from fsgreen.host.settings import BY_DEFAULT, SETTINGS, parse_wishes

__all__ = [
    "BY_DEFAULT",
    "HERE",
    "SETTINGS",
    "Outcome",
    "Row",
    "Tree",
    "applied",
    "apply",
    "before",
    "look",
    "parse_wishes",
    "pending",
    "restore",
    "run",
]
