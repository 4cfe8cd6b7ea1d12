"""A study as it is declared, and the plan of trials that is made of it before data exist.

Rules 1 to 4 of the statistics: factors, levels, constants, exclusions and the baseline are declared
first; a hash of the plan is in every record; trials are randomised in complete blocks, each of
which is one pass over all cells, the baseline included.
"""

from fsgreen.design.blocks import PlannedTrial, derive_seed
from fsgreen.design.cell import FACTORS, Cell
from fsgreen.design.plan import CONSTANTS, LEVELS, Plan, make_plan, values_of
from fsgreen.design.study import Profile, Study, load_study, read_study

__all__ = [
    "CONSTANTS",
    "FACTORS",
    "LEVELS",
    "Cell",
    "Plan",
    "PlannedTrial",
    "Profile",
    "Study",
    "derive_seed",
    "load_study",
    "make_plan",
    "read_study",
    "values_of",
]
