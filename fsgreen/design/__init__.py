"""A declared study, and the plan of trials that is made from it before data exist.

Rules 1 to 4: factors, levels, constants, exclusions and the baseline are declared first. Every
record has a hash of the plan. Trials are randomised in complete blocks. A block is one pass over
all cells, including the baseline. Rule 27: if a profile has a maximum of blocks, those beyond the
minimum hold only the cells whose intervals are still too wide, and what they are compared with.
"""

from fsgreen.design.blocks import PlannedTrial, derive_seed
from fsgreen.design.cell import DEFAULT, Cell
from fsgreen.design.plan import Plan
from fsgreen.design.planning import make_plan
from fsgreen.design.reading import Examined, examine, load_study, read_study
from fsgreen.design.sequential import (
    METRICS,
    Measured,
    Trials,
    companions,
    decide,
    due,
    half_widths_percent,
    progress_of_cells,
    samples,
)
from fsgreen.design.study import Comparison, Exclusion, Profile, Study, Windows
from fsgreen.design.windows import Group, groups, most_ready, rounds

__all__ = [
    "DEFAULT",
    "METRICS",
    "Cell",
    "Comparison",
    "Examined",
    "Exclusion",
    "Group",
    "Measured",
    "Plan",
    "PlannedTrial",
    "Profile",
    "Study",
    "Trials",
    "Windows",
    "companions",
    "decide",
    "derive_seed",
    "due",
    "examine",
    "groups",
    "half_widths_percent",
    "load_study",
    "make_plan",
    "most_ready",
    "progress_of_cells",
    "read_study",
    "rounds",
    "samples",
]
