"""Every number and text of the massie25 report that comes from data."""

from __future__ import annotations

from itertools import product
from typing import Any

from fsgreen import confounds
from fsgreen.analysis.numbers import campaign_numbers
from fsgreen.papers.massie25.reference import PROCESSES, REQUESTS_KIB, THREADS, Printed

CAPTIONS = {
    **{
        f"fig{number}": f"Figure {number}: requests of {request_kib} KiB by "
        f"{'one process' if processes == 1 else f'{processes} processes'}."
        for number, (request_kib, processes) in enumerate(product(REQUESTS_KIB, PROCESSES), start=1)
    },
    **{
        f"fig{number}": f"Figure {number}: RocksDB by YCSB's workload, "
        f"{'one thread' if threads == 1 else f'{threads} threads'}."
        for number, threads in enumerate(THREADS, start=7)
    },
    "fig_groups": "Section IV-D: random writes on xfs by its number of allocation groups.",
}


def numbers(campaign: str) -> dict[str, Any]:
    """Return the values that `paper/massie25.typ` shows, ready to be written as JSON."""
    return {
        **campaign_numbers(campaign, Printed.load().method["paper"]),
        "figures": [{"file": f"{name}.svg", "caption": text} for name, text in CAPTIONS.items()],
        "probed": any(not curve.empty for curve in confounds.read_probes(campaign).values()),
    }
