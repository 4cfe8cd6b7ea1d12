"""The claims of a study of one's own: none were published."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fsgreen import paths
from fsgreen.analysis.ledger import CLAIM_COLUMNS, PART_COLUMNS
from fsgreen.reduce import write_table


def write(campaign: str) -> Path:
    """Write `claims.csv` and `claim_parts.csv` without a row; return their folder."""
    write_table(pd.DataFrame(columns=CLAIM_COLUMNS), campaign, "claims")
    write_table(pd.DataFrame(columns=PART_COLUMNS), campaign, "claim_parts")
    return paths.results(campaign)
