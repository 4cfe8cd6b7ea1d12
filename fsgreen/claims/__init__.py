"""The claims ledger: a published number, ours with its interval, and the verdict between them."""

from fsgreen.claims.bands import (
    ABOVE,
    MEASURED_TOLERANCE,
    PUBLISHED_TOLERANCE,
    Band,
    about,
    band,
    judge,
)
from fsgreen.claims.parts import LACKING, Found, Part, by_construction, combine, missing, shown
from fsgreen.claims.published import as_ratio, load_claims, own_file, statements, unit_of, written
from fsgreen.claims.verdicts import (
    AGREES,
    DISAGREE,
    EVEN,
    OTHER_STATE,
    SIZE_EXCLUDED,
    SIZE_OPEN,
    UNTESTED,
    VERDICTS,
    Basis,
    Verdict,
)

__all__ = [
    "ABOVE",
    "AGREES",
    "DISAGREE",
    "EVEN",
    "LACKING",
    "MEASURED_TOLERANCE",
    "OTHER_STATE",
    "PUBLISHED_TOLERANCE",
    "SIZE_EXCLUDED",
    "SIZE_OPEN",
    "UNTESTED",
    "VERDICTS",
    "Band",
    "Basis",
    "Found",
    "Part",
    "Verdict",
    "about",
    "as_ratio",
    "band",
    "by_construction",
    "combine",
    "judge",
    "load_claims",
    "missing",
    "own_file",
    "shown",
    "statements",
    "unit_of",
    "written",
]
