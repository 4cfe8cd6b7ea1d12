"""Every number and text of the nfstricks03 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen import virtual
from fsgreen.papers.nfstricks03.reference import Printed
from fsgreen.papers.numbers import campaign_numbers
from fsgreen.reduce import read_table

CAPTIONS = {
    "fig1": "Figure 1: the zones. Readers of the outer (1) and the inner quarter (4) of each disk.",
    "fig2": "Figure 2: the tagged queue of the SCSI disk, on and off.",
    "fig3": "Figure 3: when the first to the last of eight readers were done, by scheduler.",
    "fig3_schedulers": "The same readers under every scheduler: what fairness costs.",
}
SIMULATED = "Disks are simulated; points are published, open ones derived from what is."


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/nfstricks03.typ` shows, ready to be written as JSON."""
    claims = read_table(campaign, "claims")
    cautious = claims[claims["caution"].notna()]
    return {
        **campaign_numbers(campaign, Printed.load()),
        "figures": [
            {"file": f"{name}.svg", "caption": f"{text} {SIMULATED}"}
            for name, text in CAPTIONS.items()
        ],
        "cautions": cautious[["id", "statement", "caution"]].to_dict("records"),
        "virtual": _virtual(campaign),
    }


def _virtual(campaign: str) -> str:
    """Return what there is in virtual time, as a sentence."""
    found = virtual.read(campaign)
    if found is None:
        return "This campaign has no runs in virtual time."
    cells = found.trials.drop(columns=["trial", "block", "order"]).groupby(
        ["readers", "disk", "partition", "queue_depth", "scheduler"]
    )
    return (
        f"{len(found.trials)} runs of {cells.ngroups} cells in virtual time, profile "
        f"{found.plan.profile.name}, plan {found.plan.hash[:12]}."
    )
