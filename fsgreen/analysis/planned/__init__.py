"""What a plan will be able to decide, predicted from the scatter of a pilot campaign (rule 46)."""

from fsgreen.analysis.planned.differences import Telling, tellings
from fsgreen.analysis.planned.parts import BAR, Prospect, blocks_for, prospects, widest_percent
from fsgreen.analysis.planned.pilot import Pilot
from fsgreen.analysis.planned.source import Planned

__all__ = [
    "BAR",
    "Pilot",
    "Planned",
    "Prospect",
    "Telling",
    "blocks_for",
    "prospects",
    "tellings",
    "widest_percent",
]
