"""What all figures share: style, file systems' colours, saving; and figures of every study."""

from fsgreen.figures.cells import cell_rows, effect_rows
from fsgreen.figures.confounds import (
    completion_times,
    flag,
    level_dots,
    offset_curve,
    queue_curve,
    sizes,
)
from fsgreen.figures.latency_profiles import latency_profiles
from fsgreen.figures.odd_cells import odd, odd_cells
from fsgreen.figures.points import points
from fsgreen.figures.style import (
    empty,
    in_order,
    look_of,
    modelled,
    new,
    note,
    on_disk,
    png,
    save,
    semantics,
    simulated,
    styled,
)

__all__ = [
    "cell_rows",
    "completion_times",
    "effect_rows",
    "empty",
    "flag",
    "in_order",
    "latency_profiles",
    "level_dots",
    "look_of",
    "modelled",
    "new",
    "note",
    "odd",
    "odd_cells",
    "offset_curve",
    "on_disk",
    "png",
    "points",
    "queue_curve",
    "save",
    "semantics",
    "simulated",
    "sizes",
    "styled",
]
