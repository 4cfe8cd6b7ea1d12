"""What the testbeds of a fleet say together: how far they differ, and the next (rule 49)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fsgreen import gathered, paths
from fsgreen.durable import whole
from fsgreen.gathered import Gathered


def together(fleet: str, campaigns: Iterable[str]) -> tuple[Gathered, list[Path]]:
    """Return what analysed campaigns of a fleet say together, and the files that keep it.

    Each has in its results the file that `fsgreen export` writes.

    `fleet` is what the campaigns are called before the name of the testbed. Raises FsgreenError if
    one of them has not been analysed.
    """
    pooled = gathered.gather([_results(name) for name in campaigns])
    return pooled, gathered.keep(pooled, paths.results(fleet))


def _results(campaign: str) -> Path:
    file = paths.results(campaign) / f"{campaign}.results.json"
    with whole(file) as partial:
        partial.write_text(gathered.results_of(campaign).text(), encoding="ascii")
    return file
