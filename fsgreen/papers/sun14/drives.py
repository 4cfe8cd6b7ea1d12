"""Claims about the three drives of sun14, judged on their models in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fsgreen import stats
from fsgreen.analysis.claims.ledger import VIRTUAL, Check, functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import ABOVE, Part, about, band, by_construction
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import Printed
from fsgreen.papers.sun14.virtual import DISKS, Simulated, read
from fsgreen.papers.virtualtime import Model, part

KNOWN = "SSD-I"
"""The drive whose inner structure is published; that of the others is assumed."""

MB, GB = 1e6, 1e9

ALIKE = 0.05
"""Relative difference within which random and sequential reads count as the same."""


@dataclass(frozen=True)
class Drives(Model):
    """What claims are judged on in virtual time: models of the drives, which no campaign has."""

    simulated: Simulated
    printed: Printed
    needs: Mapping[str, str]


def models_of(needs: Mapping[str, str]) -> dict[str, Drives]:
    """Return the models of the drives by the kind of testbed that they are, if there are tables."""
    simulated = read()
    return {} if simulated is None else {VIRTUAL: Drives(simulated, Printed.load(), needs)}


def _row_of_table1(drive: str) -> Check:
    """Return the check of a drive of table 1 on the model that was made of it."""

    def check(models: Drives, numbers: Numbers) -> Iterator[Part]:
        row = models.simulated.drives.set_index("drive").loc[drive]
        capacity, dram, *speeds, work, idle = numbers
        told = {
            "GB": (row["capacity_b"] / GB, capacity),
            "MB/s read, one request of 128 KiB at a time": (row["read_b_s"] / MB, speeds[0]),
            "MB/s written in order": (row["write_b_s"] / MB, speeds[1]),
            "W while it writes in order": (row["work_w"], work),
            "W at rest": (row["idle_w"], idle),
        }
        for what, (value, number) in told.items():
            ours = stats.Estimate.exactly(float(value))
            target, published = about(number["value"]), f"{number['value']:g}"
            yield by_construction(part(f"{drive}: {what}", ours, target, published))
        what = f"{drive}: {dram['value']} MB of DRAM"
        yield Part(what, "not testable here", needs=models.needs["dram"])
        # The paper's own numbers contradict some of these; that is not hidden by the model.
        slug = f"s_t1_{drive.lower().replace('-', '_')}"
        if slug in RECOMPUTED:
            yield from (own for own in RECOMPUTED[slug](models.printed, numbers) if own.tested)

    return check


def _random_and_sequential(models: Drives, numbers: Numbers) -> Iterator[Part]:
    table = models.simulated.patterns
    rows = table[table["drive"] == KNOWN].set_index(["action", "order"])["throughput_b_s"]
    reads, writes = (rows[action] for action in ("read", "write"))
    ours = stats.Estimate.exactly(float(reads["random"] / reads["sequential"]))
    target = band(numbers[0], "simulated", ALIKE)
    what = f"{KNOWN}: random reads over sequential ones, 4 KiB"
    yield by_construction(part(what, ours, target, "the same", "change"))
    ours = stats.Estimate.exactly(float(writes["sequential"] / writes["random"]))
    what = f"{KNOWN}: sequential writes over random ones, 4 KiB, on a new drive"
    yield part(what, ours, ABOVE, "more", "x")
    what = "power of random writes over that of sequential ones"
    yield Part(what, "not testable here", needs=models.needs["ssd-micro"])


CHECKS: Mapping[str, Check] = {
    **functions_of(vars(), "models"),
    **{f"table1_{drive}": _row_of_table1(drive) for drive in DISKS},
}
"""The functions above by their name in `claims.yaml`."""
