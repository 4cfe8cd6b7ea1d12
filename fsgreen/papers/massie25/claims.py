"""The 27 claims of massie25: what they are judged on, checks, and what print says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from fsgreen import stats
from fsgreen.analysis import claims
from fsgreen.analysis.claims.checks import (
    effect_over_effect,
    fewest_trials,
    metric_identity,
    share_above,
)
from fsgreen.analysis.claims.ledger import functions_of
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.analysis.printed import beyond, implied
from fsgreen.claims import Band, Part, by_construction, written
from fsgreen.papers.massie25.reference import (
    FILE_SYSTEMS,
    PATTERNS,
    PROCESSES,
    REQUESTS_KIB,
    WRITING,
    Printed,
    requests,
)
from fsgreen.reduce import factors_of, read_table

__all__ = ["CHECKS", "RECOMPUTED", "printed", "sources_of"]

printed = Printed.load

WINNER = "xfs"

RAM_GB = 16
"""Memory of the machine, as the claim on the size of the database has it."""
HOURS = 1e9
"""Kilowatt hours in a TWh."""


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, Source]:
    """Return what claims are judged on, by the kind of testbed that it is.

    All trials: each claim names the pattern, the size and the number of its requests, or the mix
    and the threads of its database, in which it may differ from the study's baseline.
    """
    trials = read_table(campaign, "trials")
    sources = claims.sources_of(campaign, of_paper)
    return {testbed: replace(source, trials=trials) for testbed, source in sources.items()}


# --- on trials ----------------------------------------------------------------------------------


def _ten_runs(source: Source, numbers: Numbers) -> Iterator[Part]:
    counts = source.trials.groupby(factors_of(source.trials), dropna=False).size()
    part = fewest_trials(counts, numbers[0], written(numbers[0]))
    met = counts.min() >= numbers[0]["value"]
    yield by_construction(source.requiring(part, "ten-runs", met))


def _falls_behind(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, for each pattern that writes, what f2fs keeps of its standing at more processes."""
    fewest = PROCESSES[0]
    for pattern, other, processes in product(WRITING, FILE_SYSTEMS[:2], PROCESSES[1:]):
        cells = [
            requests(name, pattern, 4, count)
            for count in (processes, fewest)
            for name in ("f2fs", other)
        ]
        standing = partial(effect_over_effect, source, "throughput", cells)
        what = f"{pattern}: f2fs over {other} at {processes} processes, over that at {fewest}"
        yield source.part(what, Band(0, 1, 0), "falls", standing, *cells)


def _group_sizes(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield that nothing here tells how small and how large a group of xfs may be."""
    what = "size of an allocation group, the least and the most"
    yield Part(what, "not testable here", needs=source.needs["group-sizes"])


def _experiments_won(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield the share of experiments in which xfs does most work per joule."""
    experiments = list(product(PATTERNS, REQUESTS_KIB, PROCESSES))
    cells = {
        experiment: {name: requests(name, *experiment) for name in FILE_SYSTEMS}
        for experiment in experiments
    }

    def won() -> stats.Estimate:
        return share_above(
            [
                [
                    source.effect("efficiency", of[WINNER], of[name])
                    for name in FILE_SYSTEMS
                    if name != WINNER
                ]
                for of in cells.values()
            ]
        )

    what = f"share of {len(experiments)} experiments that {WINNER} wins on work per joule"
    every = [cell for of in cells.values() for cell in of.values()]
    target = Band(numbers[0]["value"] / 100, 1, 0)
    yield source.about_power(
        source.part(
            what, target, written(numbers[0]), won, *every, metric="efficiency", unit="share"
        )
    )


# --- from print ---------------------------------------------------------------------------------


def _m_128_peak(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    bandwidth_gib_s = numbers[0]["value"] * 128 * 1024 / 2**30
    yield implied(numbers[1], "54,000 requests of 128 KiB in GiB/s", bandwidth_gib_s)
    yield Part("54,000 a second on this drive", "not testable here", needs="same-drive")


def _m_4k_seqwrite(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    bandwidth_gib_s = numbers[0]["value"] * 4096 / 2**30
    yield implied(numbers[1], "1.62 million requests of 4 KiB in GiB/s", bandwidth_gib_s)
    share = numbers[3]["value"] / numbers[1]["value"]
    yield implied(numbers[4], "less than 3 GB/s over 6.18 GB/s", share)
    yield Part("1.62 million a second on this drive", "not testable here", needs="same-drive")


def _m_db_size(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    database = printed.method["workloads"]["rocksdb_ycsb"]
    size_gb = database["records"] * database["record_size_kb"] * 1024 / 1e9
    yield implied(numbers[0], "12 million records of 4 KiB in GB", size_gb)
    what = "the database over 16 GB of memory"
    yield implied({**numbers[2], "op": "at_least", "value": 3}, what, size_gb / RAM_GB)


def _m_world_energy(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    price = numbers[1]["value"] * 1e9 / (numbers[0]["value"] * HOURS)
    yield implied({**numbers[2], "op": "approx"}, "46 billion USD over 460 TWh", price)
    yield beyond("energy of data centres in 2022 and 2026, and their number")


CHECKS = {"metric_identity": metric_identity, **functions_of(vars(), "source")}
"""The functions above by their name in `claims.yaml`."""

RECOMPUTED = functions_of(vars(), "printed")
"""Those that recompute printed numbers, by the slug of their claim."""
