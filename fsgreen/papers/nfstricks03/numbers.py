"""Every number and text of the nfstricks03 report that comes from data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fsgreen import confounds
from fsgreen.analysis.numbers import campaign_numbers, captioned
from fsgreen.analysis.tables import rows_left_out
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.experiments import EIGHT, MAP_KIB
from fsgreen.papers.nfstricks03.readers import Runs, runs_of
from fsgreen.papers.nfstricks03.reference import FILE_SYSTEMS, Printed
from fsgreen.papers.nfstricks03.served import has_server
from fsgreen.papers.nfstricks03.spreads import by_both_clocks, published, spreads
from fsgreen.reduce import read_table

PUBLISHED = (
    "On the left is what the paper states; open marks are derived from that. The disks are "
    "simulated."
)
CAPTIONS = {
    "fig1": "Figure 1: the zones. The throughput that one to many readers have together on the "
    f"outer quarter (1, solid) and on the inner one (4, dashed) of each disk. {PUBLISHED}",
    "fig2": "Figure 2: the tagged queue of the SCSI disk, on and off. The outer quarter is solid, "
    f"the inner one dashed. {PUBLISHED}",
    "fig3": "Figure 3: when the first to the last of eight readers were done, on the outer "
    "quarter of ext2: a steep line is unfair, a high one slow. Smaller files take less time. "
    f"{PUBLISHED}",
    "fig3_file_systems": "Figure 3 by file system: the last reader's time over the first's. Ours "
    "on simulated disks{clocks}; the published ratio is that of FFS under the elevator.",
    "fig3_schedulers": "The same readers under every scheduler that ran. Fair schedulers are on "
    "the left, fast ones at the top. If the disk takes all requests at once, a scheduler has "
    "nothing to order, and its marks coincide. The disks are simulated.",
}
BOTH_CLOCKS = ", in real time and in virtual time with files of the same size"

OF_SERVER = (
    "In real time over the loopback of one machine{clocks}; the disks are simulated, and read "
    "ahead themselves."
)
OVER_A_LINK = ", in virtual time over a link of 49 MB/s"
CAPTIONS_OF_SERVER = {
    "fig4": f"Figure 4: NFS over UDP, by partition and queue. {OF_SERVER}",
    "fig5": "Figure 5: NFS over TCP, by partition and queue; virtual time has no model of it. "
    f"{OF_SERVER}",
    "fig6": "Figure 6: a server that always reads ahead, and one that decides by the default "
    "heuristic, with a table of files of 4 slots, too few for 8 readers, and with the 64 slots of "
    f"FreeBSD 4. {OF_SERVER}",
    "fig7": "Figure 7: SlowDown and the size of the table of files, of 4, 64 and 1017 slots. "
    f"{OF_SERVER}",
    "fig8": "Figure 8 and table 1: one reader in 2, 4 and 8 strides, over UDP, with the default "
    f"heuristic and with cursors. {OF_SERVER}",
}


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/nfstricks03.typ` shows, ready to be written as JSON."""
    trials = read_table(campaign, "trials")
    runs = runs_of(campaign, trials, read_table(campaign, "finishes"))
    served = has_server(trials)
    return {
        **campaign_numbers(campaign, Printed.load().method["paper"]),
        "figures": captioned(captions(served=served, both=len(runs) > 1)),
        "served": served,
        "virtual": _virtual(campaign),
        "left_out": rows_left_out(campaign),
        **_file_systems(campaign, runs),
        "probed": _probed(campaign),
    }


def captions(*, served: bool, both: bool) -> dict[str, str]:
    """Return the captions of figures, of readers of a server or of files, by one clock or two."""
    texts, clocks = (CAPTIONS_OF_SERVER, OVER_A_LINK) if served else (CAPTIONS, BOTH_CLOCKS)
    return {name: text.format(clocks=clocks if both else "") for name, text in texts.items()}


def _file_systems(campaign: str, runs: Sequence[Runs]) -> dict[str, Any]:
    """Return what the report says of file systems: their spread by clock, and how clocks differ."""
    spread = spreads(runs, virtual.sizes(campaign))
    return {
        "map_mib": MAP_KIB[FILE_SYSTEMS[0]] // 1024,
        "published_spread": _range(list(published(Printed.load().points("3")).values())),
        "spreads": spread_lines(spread),
        "clocks": clocks_line(spread) if len(runs) > 1 else "",
    }


def spread_lines(spread: pd.DataFrame) -> list[str]:
    """Return a line for each clock and size of files: the spread on each file system.

    It is that under the elevator, where the disk takes one request at a time: with tags there is
    nothing left to order.
    """
    queued = spread["series"].str.contains(" tags") & ~spread["series"].str.contains("no tags")
    unfair = spread[(spread["scheduler"] == "elevator") & ~queued]
    lines = []
    for (clock, total_mib), of_clock in unfair.groupby(["clock", "total_mib"]):
        by_system = [
            f"{_range(of_system['value_x'].tolist())} times on {name}"
            for name in FILE_SYSTEMS
            if len(of_system := of_clock[of_clock["file_system"] == name])
        ]
        lines.append(f"{clock}, files of {total_mib / EIGHT:g} MB: {', '.join(by_system)}")
    return lines


def clocks_line(spread: pd.DataFrame) -> str:
    """Return how much the two clocks differ at files of one size, as a sentence."""
    both = by_both_clocks(spread)
    if both.empty:
        return "The two clocks have no cells with files of one size."
    apart = both["virtual_over_real_x"]
    lines = [
        f"{_range(of_system.tolist())} on {name}"
        for name in FILE_SYSTEMS
        if len(of_system := apart[both["file_system"] == name])
    ]
    return (
        "The last reader's time over the first's in virtual time, over that in real time with "
        f"files of the same size, under both schedulers ({len(both)} cells): {', '.join(lines)}."
    )


def _range(values: list[float]) -> str:
    """Return the least and the most of some ratios, once where they are written alike."""
    least, most = f"{min(values):.3g}", f"{max(values):.3g}"
    return least if least == most else f"{least} to {most}"


def _probed(campaign: str) -> str:
    """Return what the probe of the bare testbed looked at, as a phrase."""
    place, curve = confounds.probed_place(campaign), confounds.read_probes(campaign)["offset"]
    size_mib = 0.0 if curve.empty else curve["offset_b"].max() / 2**20
    disk = place.get("disk", "the testbed's disk")
    return f"{size_mib:.0f} MiB at the start of {disk}, simulated"


def _virtual(campaign: str) -> str:
    """Return what there is in virtual time, as a sentence."""
    simulated = virtual.read(campaign)
    if simulated is None:
        return "This campaign has no runs in virtual time."
    cells = simulated.trials.drop(columns=["trial", "block", "order"]).groupby(
        ["readers", "disk", "partition", "queue_depth", "scheduler"]
    )
    return (
        f"{len(simulated.trials)} runs of {cells.ngroups} cells in virtual time, profile "
        f"{simulated.plan.profile.name}, plan {simulated.plan.hash[:12]}."
    )
