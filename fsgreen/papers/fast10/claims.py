"""The 99 claims of fast10: what they are judged on, and checks that no selector can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import pandas as pd

from fsgreen import stats
from fsgreen.analysis import claims
from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.claims.checks import fewest_trials, metric_identity
from fsgreen.analysis.claims.ledger import functions_of
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.analysis.configuration import configuration, label
from fsgreen.claims import AGREES, Band, Part, band, by_construction, judge, written
from fsgreen.design import Cell
from fsgreen.papers.fast10.published import RECOMPUTED
from fsgreen.papers.fast10.reference import FILE_SYSTEMS, Printed
from fsgreen.reduce import at, read_plan, read_table

__all__ = ["CHECKS", "RECOMPUTED", "printed", "sources_of"]

printed = Printed.load

CARRIES = 0.98
"""Share of a limited load from which on a file system counts as carrying it."""


WITHIN = 57 / 61
"""Share of cells that are as narrow as is claimed: it is "unless noted", and table 2 notes 4 of
its 61 pairs."""


@dataclass(frozen=True)
class Servers(Source):
    """A campaign that claims are judged on; `cells` is the table `cells.csv`."""

    cells: pd.DataFrame = field(default_factory=pd.DataFrame)


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, claims.Source]:
    """Return what claims are judged on, by the kind of testbed that it is."""
    source = Servers(
        **vars(claims.source_of(campaign, of_paper.needs)),
        cells=at_baseline(read_table(campaign, "cells"), read_plan(campaign)),
    )
    return {claims.testbed_of(campaign): source}


def _protocol(source: Servers, numbers: Numbers) -> Iterator[Part]:
    """Yield whether cells have as many trials, and are known as closely, as fast10 says of its own.

    A campaign that is not as thorough says nothing about theirs.
    """
    cells = source.cells

    def as_theirs(part: Part) -> Part:
        met = part.verdict in AGREES
        return by_construction(source.requiring(part, "as-many-runs", met))

    yield as_theirs(fewest_trials(cells["n"], numbers[0], "5 runs"))
    energy = cells["energy_high_j"] - cells["energy_low_j"]
    widths = {
        "throughput": cells["half_width_percent"],
        "energy": 50 * energy / cells["energy_j"],
    }
    for metric, width in widths.items():
        within = int((width < numbers[1]["value"]).sum())
        part = Part.judged(
            f"share of cells in which the half-width of {metric} is below 5 %",
            stats.Estimate.exactly(within / len(cells), len(cells)),
            Band(WITHIN, 1.0, 0),
            "below 5 %",
            "measured",
            unit="share",
            detail=f"{within} of {len(cells)} cells",
        )
        yield as_theirs(part if metric == "throughput" else source.about_power(part))


def _equal_power(source: Servers, numbers: Numbers) -> Iterator[Part]:
    """Yield each pair of file systems at each limited web load that both carry.

    A cell carries its load by all of its trials or not at all: to leave single trials out would
    choose them by what came of them.
    """
    trials = source.trials
    web = trials[(trials["workload"] == "webserver") & (trials["option"] == "default")]
    web = web[web["load_ops_s"].notna() & web["file_system"].isin(FILE_SYSTEMS)]
    of_cell = web.groupby(["load_ops_s", "file_system"])
    work_ops, duration_s = (of_cell[name].transform("sum") for name in ("work_ops", "duration_s"))
    carried = web[work_ops / duration_s >= CARRIES * web["load_ops_s"]]
    target = band(numbers[0], "measured", source.bound)
    for load_ops_s, of_load in carried.groupby("load_ops_s"):
        powers = {
            name: rows[["block", "power_w"]].rename(columns={"power_w": "above"}).assign(below=1.0)
            for name, rows in of_load.groupby("file_system")
        }
        states = of_load.groupby("file_system")["steady"].agg(list).map(stats.classify_cell)
        for one, other in combinations(powers, 2):
            what = f"power at {load_ops_s:g} web ops/s: {one} over {other}"
            ours = stats.effect(powers[one], powers[other])
            moving = "inconsistent" in (states[one], states[other])
            yield source.about_power(
                Part(
                    what,
                    "inconclusive" if moving else judge(ours, target),
                    "measured",
                    "no difference",
                    target,
                    ours,
                    "change",
                    source.boundary,
                )
            )
    what = "power of Reiserfs at the same load"
    yield Part(what, "not testable here", needs=source.needs["reiserfs"])
    if carried.empty:
        what = "power of two file systems at the same web load"
        yield Part(what, "not testable here", needs=source.needs["load-levels"])


def _block_groups(source: Servers, numbers: Numbers) -> Iterator[Part]:
    small, large = configuration("ext2", "bg16k"), configuration("ext2", "isz1k")
    sizes = {config: _per_group(source.trials, config) for config in (small, large)}
    what = f"blocks in a group of {label(large)}"
    published = f"{numbers[0]['value']:g} Ki blocks"
    lacks = tuple(label(config) for config, estimate in sizes.items() if estimate is None)
    per_group, other = sizes[large], sizes[small]
    if per_group is None or other is None:
        yield Part(what, "not testable here", published=published, lacks=lacks)
        return
    blocks = 1024.0 * numbers[0]["value"]
    target = Band(blocks, blocks, 0)
    yield Part.judged(what, per_group, target, published, "measured", unit="")
    groups = stats.Estimate.spanning(
        other.value / per_group.value,
        other.low / per_group.high,
        other.high / per_group.low,
        min(per_group.n, other.n),
    )
    target = band(numbers[1], "measured", 0.0)
    what = f"groups of {label(large)} over those of {label(small)}"
    yield Part.judged(what, groups, target, written(numbers[1]), "measured")


def _per_group(trials: pd.DataFrame, config: Cell) -> stats.Estimate | None:
    """Return the blocks per group of all trials of a configuration: mean, least and most."""
    blocks = trials[at(trials, config)]["group_blocks_count"].dropna()
    return None if blocks.empty else stats.Estimate.over_all(blocks)


CHECKS = {"metric_identity": metric_identity, **functions_of(vars(), "source")}
"""The functions above by their name in `claims.yaml`."""
