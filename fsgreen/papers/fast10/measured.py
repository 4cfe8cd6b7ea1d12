"""Claims put to the test by a campaign: ratios, orders, and a few checks of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.configuration import configuration, label, parse
from fsgreen.analysis.effects import TREATMENTS, Scatters, sample
from fsgreen.claims import Band, Part, Verdict, band, judge, judge_order, unit_of, written
from fsgreen.confounds import Gate
from fsgreen.design import Cell, metrics
from fsgreen.papers.fast10.reference import FILE_SYSTEMS, GONE, WORKLOADS
from fsgreen.reduce import at, factors_of

Numbers = Sequence[Mapping[str, Any]]

METRIC = {
    "throughput_ops_s": "throughput",
    "appends": "throughput",
    "operations": "throughput",
    "energy_efficiency_ops_per_j": "efficiency",
}
"""What a published number is about. Counts of operations are of runs of equal length."""

CARRIES = 0.98
"""Share of a limited load from which on a file system counts as carrying it."""


@dataclass(frozen=True)
class Bench:
    """The campaign that claims are tested on.

    `needs` holds the texts for what is missing, by name; `geometry` has a row per trial, with
    `file_system`, `option` and what was read back from the disk after mkfs. `gate` knows what the
    campaign held.
    """

    trials: pd.DataFrame
    cells: pd.DataFrame
    bounds: Mapping[str, float]
    boundary: str
    needs: Mapping[str, str]
    geometry: pd.DataFrame = field(default_factory=pd.DataFrame)
    gate: Gate | None = None

    @cached_property
    def unlimited(self) -> frozenset[tuple[str, Cell]]:
        """The cells that were measured as fast as they go."""
        rows = self.cells[self.cells["load_ops_s"].isna()]
        names = rows[["workload", "file_system", "option"]].itertuples(index=False)
        return frozenset((workload, configuration(*config)) for workload, *config in names)

    @cached_property
    def scatters(self) -> Scatters:
        """How far the trials scatter."""
        return Scatters(self.trials)

    def missing(self, *cells: tuple[str, Cell]) -> dict[str, Any]:
        """Return what a comparison of cells lacks, as fields of a `Part`, or nothing."""
        for _, config in cells:
            if config["file_system"] in GONE:
                return {"needs": self.needs[config["file_system"]]}
        lacks = tuple(
            f"{workload} {label(config)}"
            for workload, config in cells
            if (workload, config) not in self.unlimited
        )
        return {"lacks": lacks} if lacks else {}

    def effect(self, workload: str, configs: Sequence[Cell], metric: str) -> stats.Estimate:
        """Return a metric, or the mean of a column, of the first configuration over the second."""
        if metric not in metrics.names():
            return stats.effect(*(_column(self.trials, workload, one, metric) for one in configs))
        candidate, baseline = (sample(self.trials, workload, one, metric) for one in configs)
        return stats.effect(candidate, baseline, self.scatters.of(workload, metric, *configs))

    def settled(self, verdict: Verdict, *cells: tuple[str, Cell]) -> Verdict:
        """Return a verdict on cells, inconclusive if one has no steady state (rule 24)."""
        states = [self._row(workload, config)["state"] for workload, config in cells]
        return "inconclusive" if "inconsistent" in states else verdict

    def gated(self, workload: str, configs: Sequence[Cell], ratio: stats.Estimate) -> str:
        """Return what the gate says of the first configuration over the second."""
        if self.gate is None:
            return ""
        candidate, baseline = (self._cell(workload, config) for config in configs)
        return self.gate.rule(candidate, baseline, TREATMENTS, ratio).state

    def _cell(self, workload: str, config: Cell) -> dict[str, Any]:
        """Return the levels of a cell that was measured as fast as it goes."""
        row = self._row(workload, config)
        return {name: row[name] for name in factors_of(self.cells)}

    def _row(self, workload: str, config: Cell) -> pd.Series:
        of_cell = (self.cells["workload"] == workload) & at(self.cells, config)
        return self.cells[of_cell & self.cells["load_ops_s"].isna()].iloc[0]

    def about_power(self, part: Part) -> Part:
        """Return a part about power as it is, or undecided where power is modelled (rule 19)."""
        if self.boundary != "modelled":
            return part
        needs = self.needs["wall-meter"]
        return replace(part, verdict="not testable here", basis=None, needs=needs)


def test(entry: Mapping[str, Any], numbers: Numbers, bench: Bench) -> list[Part]:
    """Return the parts of a claim that an entry of `claims.yaml` declares."""
    parts = [
        _ratio(entry["workload"], declared, numbers[declared["number"]], bench)
        for declared in entry.get("ratios", ())
    ]
    if "order" in entry:
        order = entry["order"]
        for above, below in order["pairs"]:
            parts.append(_above(entry["workload"], above, below, order["metric"], bench))
    if "check" in entry:
        parts += CHECKS[entry["check"]](bench, numbers)
    return parts


def _ratio(
    workload: str, declared: Mapping[str, Any], number: Mapping[str, Any], bench: Bench
) -> Part:
    subject = parse(declared["subject"])
    baseline = parse(declared.get("baseline", subject["file_system"]))
    metric = METRIC[number["metric"]]
    what = f"{workload} {metric}: {label(subject)} over {label(baseline)}"
    published, unit = written(number), unit_of(number)
    cells = ((workload, subject), (workload, baseline))
    missing = bench.missing(*cells)
    if missing:
        return Part(what, "not testable here", published=published, unit=unit, **missing)
    target = band(number, "measured", bench.bounds["equivalence_percent"] / 100)
    ours = bench.effect(workload, (subject, baseline), metric)
    gate = bench.gated(workload, (subject, baseline), ours)
    verdict = bench.settled(judge(ours, target), *cells)
    if metric == "throughput":
        return Part(what, verdict, "measured", published, target, ours, unit, gate=gate)
    return bench.about_power(
        Part(what, verdict, "measured", published, target, ours, unit, bench.boundary, gate=gate)
    )


def _above(workload: str, above: str, below: str, metric: str, bench: Bench) -> Part:
    configs = [parse(above), parse(below)]
    cells = [(workload, config) for config in configs]
    what, published = f"{workload} {metric}: {above} over {below}", f"{above} above {below}"
    missing = bench.missing(*cells)
    if missing:
        return Part(what, "not testable here", published=published, **missing)
    ours = bench.effect(workload, configs, metric)
    target, gate = Band(1, math.inf, 1), bench.gated(workload, configs, ours)
    verdict = bench.settled(judge_order(ours), *cells)
    return Part(what, verdict, "measured", published, target, ours, gate=gate)


def _column(trials: pd.DataFrame, workload: str, config: Cell, column: str) -> pd.DataFrame:
    """Return a column of a cell's trials as a sample whose value is its mean."""
    chosen = sample(trials, workload, config, "throughput")
    return chosen.assign(above=trials.loc[chosen.index, column], below=1.0)


def _metric_identity(bench: Bench, numbers: Numbers) -> Iterator[Part]:
    trials = bench.trials
    ratio = trials["efficiency_ops_j"] / (trials["throughput_ops_s"] / trials["power_w"])
    ours = stats.Estimate(ratio.mean(), ratio.min(), ratio.max(), len(ratio))
    target = Band(1 - 1e-5, 1 + 1e-5, 0)
    what = "operations per joule over (operations per second over watts), all trials"
    yield bench.about_power(
        Part(what, judge(ours, target), "measured", "1x", target, ours, boundary=bench.boundary)
    )


def _protocol(bench: Bench, numbers: Numbers) -> Iterator[Part]:
    cells = bench.cells
    least = int(cells["n"].min())
    runs = stats.Estimate(least, least, least, least)
    enough = Band(numbers[0]["value"], math.inf, 0)
    what = "fewest trials of a cell"
    yield Part(what, judge(runs, enough), "measured", "5 runs", enough, runs, "")
    energy = cells["energy_high_j"] - cells["energy_low_j"]
    widths = {
        "throughput": cells["half_width_percent"],
        "energy": 50 * energy / cells["energy_j"],
    }
    for metric, width in widths.items():
        within = int((width < numbers[1]["value"]).sum())
        what = f"half-width of {metric} below 5 % in {within} of {len(cells)} cells"
        all_within: Verdict = "reproduced" if within == len(cells) else "not reproduced"
        part = Part(what, all_within, "measured", "below 5 %")
        yield part if metric == "throughput" else bench.about_power(part)


def _web_over_others(bench: Bench, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[0], "measured", 0.0)
    for other in WORKLOADS[1:]:
        for file_system in ("ext2", "ext3", "xfs"):
            config = configuration(file_system)
            what = f"throughput of {label(config)}: webserver over {other}"
            cells = (("webserver", config), (other, config))
            missing = bench.missing(*cells)
            if missing:
                yield Part(what, "not testable here", published="about 100x", **missing)
                continue
            ours = stats.effect(*(sample(bench.trials, *cell, "throughput") for cell in cells))
            verdict = bench.settled(judge(ours, target), *cells)
            yield Part(what, verdict, "measured", "about 100x", target, ours)


def _journal_helps(bench: Bench, numbers: Numbers) -> Iterator[Part]:
    for workload in WORKLOADS:
        pair = ("ext2", "ext3") if workload == "fileserver" else ("ext3", "ext2")
        yield _above(workload, *pair, "throughput", bench)


def _equal_power(bench: Bench, numbers: Numbers) -> Iterator[Part]:
    """Yield each pair of file systems at each limited web load that both carry.

    A cell carries its load by all of its trials or not at all: to leave single trials out would
    choose them by what came of them.
    """
    trials = bench.trials
    web = trials[(trials["workload"] == "webserver") & (trials["option"] == "default")]
    web = web[web["load_ops_s"].notna() & web["file_system"].isin(FILE_SYSTEMS)]
    of_cell = web.groupby(["load_ops_s", "file_system"])
    work_ops, duration_s = (of_cell[name].transform("sum") for name in ("work_ops", "duration_s"))
    carried = web[work_ops / duration_s >= CARRIES * web["load_ops_s"]]
    target = band(numbers[0], "measured", bench.bounds["equivalence_percent"] / 100)
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
            yield bench.about_power(
                Part(
                    what,
                    "inconclusive" if moving else judge(ours, target),
                    "measured",
                    "no difference",
                    target,
                    ours,
                    "change",
                    bench.boundary,
                )
            )
    what = "power of Reiserfs at the same load"
    yield Part(what, "not testable here", needs=bench.needs["reiserfs"])
    if carried.empty:
        what = "power of two file systems at the same web load"
        yield Part(what, "not testable here", needs=bench.needs["load-levels"])


def _block_groups(bench: Bench, numbers: Numbers) -> Iterator[Part]:
    small, large = configuration("ext2", "bg16k"), configuration("ext2", "isz1k")
    sizes = {config: _per_group(bench.geometry, config) for config in (small, large)}
    what = f"blocks in a group of {label(large)}"
    published = f"{numbers[0]['value']:g} Ki blocks"
    lacks = tuple(label(config) for config, estimate in sizes.items() if estimate is None)
    per_group, other = sizes[large], sizes[small]
    if per_group is None or other is None:
        yield Part(what, "not testable here", published=published, lacks=lacks)
        return
    blocks = 1024.0 * numbers[0]["value"]
    target = Band(blocks, blocks, 0)
    yield Part(what, judge(per_group, target), "measured", published, target, per_group, "")
    groups = stats.Estimate(
        other.value / per_group.value,
        other.low / per_group.high,
        other.high / per_group.low,
        min(per_group.n, other.n),
    )
    target = band(numbers[1], "measured", 0.0)
    what = f"groups of {label(large)} over those of {label(small)}"
    yield Part(what, judge(groups, target), "measured", written(numbers[1]), target, groups)


def _per_group(geometry: pd.DataFrame, config: Cell) -> stats.Estimate | None:
    """Return the blocks per group of all trials of a configuration: mean, least and most."""
    if "blocks_per_group" not in geometry:
        return None
    names = zip(geometry["file_system"], geometry["option"], strict=True)
    of_config = [configuration(*name) == config for name in names]
    found = geometry[of_config]["blocks_per_group"].dropna()
    if found.empty:
        return None
    return stats.Estimate(found.mean(), found.min(), found.max(), len(found))


CHECKS: dict[str, Callable[[Bench, Numbers], Iterator[Part]]] = {
    "metric_identity": _metric_identity,
    "protocol": _protocol,
    "web_over_others": _web_over_others,
    "journal_helps": _journal_helps,
    "equal_power": _equal_power,
    "block_groups": _block_groups,
}
"""Tests that are neither a ratio nor an order, by their name in `claims.yaml`."""
