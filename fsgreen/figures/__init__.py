"""What all figures share: style, file systems' colours, saving; and figures of every study."""

from fsgreen.figures.campaign import (
    confound_curves,
    irregular_cells_of,
    keep_common,
    keeper,
)
from fsgreen.figures.cells import AXES, OF_POWER, cell_rows, effect_rows, known_metrics
from fsgreen.figures.confounds import (
    completion_times,
    flag,
    level_dots,
    offset_curve,
    queue_curve,
    sizes,
)
from fsgreen.figures.groups import marks_by_level, shift
from fsgreen.figures.irregular_cells import irregular, irregular_cells
from fsgreen.figures.latency_profiles import latency_profiles
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
    shows,
    simulated,
    styled,
)

__all__ = [
    "AXES",
    "OF_POWER",
    "cell_rows",
    "completion_times",
    "confound_curves",
    "effect_rows",
    "empty",
    "flag",
    "in_order",
    "irregular",
    "irregular_cells",
    "irregular_cells_of",
    "keep_common",
    "keeper",
    "known_metrics",
    "latency_profiles",
    "level_dots",
    "look_of",
    "marks_by_level",
    "modelled",
    "new",
    "note",
    "offset_curve",
    "on_disk",
    "png",
    "points",
    "queue_curve",
    "save",
    "semantics",
    "shift",
    "shows",
    "simulated",
    "sizes",
    "styled",
]
