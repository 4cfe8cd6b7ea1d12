"""What is said where a campaign or its results are not here, and the command that makes them."""

from __future__ import annotations

from fsgreen import paths
from fsgreen.errors import FsgreenError, unknown


def made_anew(campaign: str) -> str:
    """Return the command that makes all results of a campaign anew."""
    if paths.ships(campaign):
        return f"./run reproduce {campaign}"
    steps = " ".join(paths.ANALYSIS)
    return f"for step in {steps}; do fsgreen notebook $step -p campaign {campaign}; done"


def unknown_campaign(name: str) -> FsgreenError:
    """Return the error for a campaign whose traces or results are not here."""
    raw = paths.raw(name)
    if paths.ships(name):
        return FsgreenError(
            f"the traces of the campaign '{name}' are not here",
            where=raw,
            next_step=f"./run reproduce {name}",
        )
    if (raw / paths.PLAN).is_file():
        return FsgreenError(
            f"no trial of the campaign '{name}' has been analysed",
            where=raw,
            next_step=f"fsgreen status {name} says what is still to be measured",
        )
    folder = paths.data()
    known = {file.parent.name for file in folder.glob(f"raw/*/{paths.PLAN}")}
    known |= {file.parent.name for file in folder.glob("results/*/*.csv")}
    return unknown(
        "campaign",
        name,
        known | set(paths.shipped_campaigns()),
        where=raw,
        next_step=f"fsgreen list campaigns, or measure it: fsgreen measure STUDY --name {name}",
    )
