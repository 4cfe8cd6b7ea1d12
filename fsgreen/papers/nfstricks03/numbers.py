"""Every number and text of the nfstricks03 report that comes from data."""

from __future__ import annotations

from typing import Any

from fsgreen import confounds
from fsgreen.analysis.numbers import campaign_numbers
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.reference import Printed

PUBLISHED = (
    "Left what the paper states, open where it is derived from that; the disks are simulated."
)
CAPTIONS = {
    "fig1": "Figure 1: the zones. What one to many readers get together of the outer quarter (1, "
    f"solid) and of the inner one (4, dashed) of each disk. {PUBLISHED}",
    "fig2": "Figure 2: the tagged queue of the SCSI disk, on and off; outer quarter solid, inner "
    f"dashed. {PUBLISHED}",
    "fig3": "Figure 3: when the first to the last of eight readers were done, on the outer "
    "quarter: a steep line is unfair, a high one slow. Panels whose files are of another size have "
    f"a scale of their own. {PUBLISHED}",
    "fig3_schedulers": "The same readers under every scheduler that ran: fair ones are left, fast "
    "ones above. Where the disk takes all requests at once a scheduler has nothing to order, and "
    "its marks coincide. The disks are simulated.",
}


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/nfstricks03.typ` shows, ready to be written as JSON."""
    return {
        **campaign_numbers(campaign, Printed.load().method["paper"]),
        "figures": [{"file": f"{name}.svg", "caption": text} for name, text in CAPTIONS.items()],
        "virtual": _virtual(campaign),
        "probed": _probed(campaign),
    }


def _probed(campaign: str) -> str:
    """Return what the probe of the bare testbed looked at, as a phrase."""
    place, curve = confounds.probed_place(campaign), confounds.read_probes(campaign)["offset"]
    size_mib = 0.0 if curve.empty else curve["offset_b"].max() / 2**20
    disk = place.get("disk", "the testbed's disk")
    return f"{size_mib:.0f} MiB at the begin of {disk}, simulated"


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
