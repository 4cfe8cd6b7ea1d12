"""What a change would probably do on the next machine, by files of results of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fsgreen.analysis import configuration
from fsgreen.design import Cell
from fsgreen.errors import FsgreenError
from fsgreen.gathered.lines import MODELLED, interval, next_says
from fsgreen.gathered.pools import Gathered
from fsgreen.words import plural


def check_study(gathered: Gathered, study: str) -> None:
    """Raise FsgreenError if files of results are of another study than is recommended from."""
    theirs = gathered.results[0].study
    if theirs != study:
        raise FsgreenError(
            f"the files are of the study {theirs}, and the campaign is of {study}",
            where=gathered.files[0],
            next_step=f"name files of {study}, or another --campaign",
        )


def lines(
    gathered: Gathered, workload: str, now: Cell, configurations: Iterable[Cell]
) -> Iterator[str]:
    """Yield for each configuration what changing to it would probably do on the next machine.

    The workload has its full name. Changes are from `now` to `configurations`.
    """
    files = plural(len(gathered.files), "file")
    yield (
        f"on the next machine, by {files} of results: where a change from "
        f"{configuration.label(now)} will probably (95 %) be"
    )
    untold = []
    for wanted in configurations:
        found = list(_pools(gathered, workload, wanted, now))
        if not found:
            untold.append(configuration.label(wanted))
        for pool in found:
            modelled = ", modelled power: decides nothing" if pool["boundary"] == MODELLED else ""
            simulated = f", simulated: {pool['model']}" if pool["model"] else ""
            yield (
                f"  {configuration.label(wanted)}: {pool['metric']} {interval(pool, 'next')}, "
                f"{next_says(pool)} ({pool['files_count']} files, {pool['work']}{simulated}"
                f"{modelled})"
            )
    if untold:
        yield f"  no two files compare with it: {', '.join(untold)}"


def _pools(gathered: Gathered, workload: str, of: Cell, over: Cell) -> Iterator[Mapping[Any, Any]]:
    one, other = (configuration.label(cell) for cell in (of, over))
    for pool in gathered.together.to_dict("records"):
        if pool["comparison"] == f"{workload}: {one} over {other}":
            yield pool
        elif pool["comparison"] == f"{workload}: {other} over {one}":
            turned = {"next_low_x": 1 / pool["next_high_x"], "next_high_x": 1 / pool["next_low_x"]}
            yield {**pool, **turned}
