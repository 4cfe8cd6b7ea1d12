"""Claims that can be recomputed from massie25's own printed numbers: one function per claim."""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen.analysis.claims.ledger import Recompute
from fsgreen.analysis.claims.recompute import beyond, implied
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Part
from fsgreen.papers.massie25.reference import Printed

RAM_GB = 16
"""Memory of the machine, as the claim on the size of the database has it."""
HOURS = 1e9
"""Kilowatt hours in a TWh."""


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


RECOMPUTED: dict[str, Recompute] = {
    function.__name__[1:]: function
    for function in (_m_128_peak, _m_4k_seqwrite, _m_db_size, _m_world_energy)
}
"""The functions above by the slug of their claim."""
