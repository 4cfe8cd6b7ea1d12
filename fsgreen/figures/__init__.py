"""What all figures share: style, file systems' colours, saving; and figures of every study."""

from fsgreen.figures.confounds import offset_curve, queue_curve
from fsgreen.figures.latency_profiles import latency_profiles
from fsgreen.figures.style import (
    COLOUR,
    HATCH,
    NAME,
    empty,
    modelled,
    new,
    note,
    save,
    simulated,
    styled,
)

__all__ = [
    "COLOUR",
    "HATCH",
    "NAME",
    "empty",
    "latency_profiles",
    "modelled",
    "new",
    "note",
    "offset_curve",
    "queue_curve",
    "save",
    "simulated",
    "styled",
]
