"""Claims that can be recomputed from nfstricks03's own printed numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fsgreen.analysis.claims.ledger import functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.analysis.printed import beyond, holds, implied, inside
from fsgreen.claims import PUBLISHED_TOLERANCE, Band, Part, as_ratio
from fsgreen.papers.nfstricks03.experiments import EIGHT
from fsgreen.papers.nfstricks03.reference import READERS, Printed

GB = 1024
"""MB of a GB: 6 times 256 MB are printed as 1.5 GB."""

NOMINAL_MB_S = 125
"""Of a gigabit a second."""

HALF_A_PLACE_MB_S = 0.005
"""Table 1 has two places."""


def _nfs_bench_volume(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    total_mb, whole_gb = (number["value"] for number in numbers)
    files = printed.method["workloads"]["sequential"]["files"]
    sums = {float(size.split()[0]) * count for size, count in files.items()}
    yield holds(f"sizes times counts of files: {sums} MB", sums == {total_mb}, "256 MB each")
    pass_gb = len(READERS) * total_mb / GB
    yield holds(f"six counts of readers: {pass_gb:g} GB", pass_gb == whole_gb, f"{whole_gb:g} GB")


def _nfs_cache_defeat(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    reuse_gb, ram_gb = numbers[0]["value"], numbers[2]["value"]
    sequential = printed.method["workloads"]["sequential"]
    others_gb = sequential["per_pass_gb"] - sequential["per_step_mb"] / GB
    yield holds(f"a pass without a file: {others_gb:g} GB", others_gb == reuse_gb, "1.25 GB")
    yield holds("reads in between against memory", reuse_gb > ram_gb, "more than the 1 GB of RAM")


def _ncscan_slowest_vs_fastest(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    points = {
        (point["series"], point["x"]): point["y"] for point in printed.points("3") if "y" in point
    }
    for name in ("ide1", "scsi1 no tags"):
        ratio = points[f"{name} elevator", EIGHT] / points[f"{name} N-CSCAN", 1]
        yield implied(numbers[0], f"figure 3, {name}, last of the elevator over first", ratio)


def _gain_by_rounding(printed: Printed) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the least and the largest gain that the printed, rounded throughputs allow."""
    table = printed.table(1).set_index(["partition", "stride", "read_ahead"])["throughput_mb_s"]
    wide = table.unstack("read_ahead")
    low = (wide["cursor"] - HALF_A_PLACE_MB_S) / (wide["default"] + HALF_A_PLACE_MB_S)
    high = (wide["cursor"] + HALF_A_PLACE_MB_S) / (wide["default"] - HALF_A_PLACE_MB_S)
    return {place: (low[place], high[place]) for place in low.index}


def _gains(printed: Printed) -> dict[tuple[str, int], float]:
    table = printed.table(1).set_index(["partition", "stride", "read_ahead"])["throughput_mb_s"]
    wide = table.unstack("read_ahead")
    gains = wide["cursor"] / wide["default"]
    return {(str(partition), int(stride)): float(x) for (partition, stride), x in gains.items()}


def _nfs_abstract_stride(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gains, double = _gains(printed), numbers[0]["value"]
    place = min(gains, key=lambda place: abs(math.log(gains[place] / double)))
    what = "gain nearest to {:g}x in table 1, {} stride {}".format(double, *place)
    within = Band(double * (1 - PUBLISHED_TOLERANCE), double * (1 + PUBLISHED_TOLERANCE), 1)
    yield inside(what, gains[place], within, f"almost {double:g}x for some", "x")


def _cursor_50(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    least = as_ratio(numbers[0]["value"], "change")
    low, high = min(_gain_by_rounding(printed).values())
    what = f"least gain in table 1, by its rounding: {low:.4g}x to {high:.4g}x"
    yield holds(what, high >= least, f"{least:g}x or more")


def _cursor_140(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    gains = _gains(printed)
    yield implied(numbers[0], "ide1 stride 8 in table 1", gains["ide1", 8])
    largest = max(gains, key=lambda place: gains[place])
    what = "largest gain in table 1: {}, stride {}".format(*largest)
    yield holds(what, largest == ("ide1", 8), "ide1, stride 8")


def _cursor_scsi_6070(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    for (partition, stride), gain in _gains(printed).items():
        if partition == "scsi1":
            yield implied(numbers[0], f"scsi1 stride {stride} in table 1", gain)


def _pci_limit(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    network = printed.method["testbed"]["network"]
    tcp_mb_s, pci_mb_s = network["raw_tcp_mb_s"], network["pci_dma_mb_s"]
    what = f"{NOMINAL_MB_S} MB/s nominal, {pci_mb_s} over PCI, {tcp_mb_s} over TCP"
    yield holds(what, NOMINAL_MB_S > pci_mb_s > tcp_mb_s, "in this order")
    yield beyond("PCI against disks, which it is often slower than")


RECOMPUTED = functions_of(vars(), "printed")
"""The functions above by the slug of their claim."""
