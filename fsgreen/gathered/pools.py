"""What files of results say together: each comparison by machine, and for the next (rule 49).

As in the ledger of a study, nothing is pooled that is not the same quantity: work per joule of two
boundaries (rule 19) or models of power, what is simulated and what is measured, another scale,
length or text of the work. Such rows stand side by side, with what keeps them apart. Other than
there, machines that differ are pooled all the same: how far they differ is what is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.ledger import SIMULATED
from fsgreen.errors import FsgreenError, unknown
from fsgreen.gathered.document import Effect, Results, read
from fsgreen.rules.answer import SAME
from fsgreen.rules.verdicts import estimates, pooled, same_p

NAMED = ("workload", "file_system", "option")
"""Factors whose levels stand without the factor's name."""

WIDEST = 1e4
"""Intervals and ratios beyond this factor say nothing of two file systems."""

KEY = ["metric", "comparison", "basis", "boundary", "model", "work"]
"""What rows that are pooled have in common."""

EACH = [
    *("metric", "comparison", "kind", "file", "basis", "model", "boundary", "work"),
    *("n", "degrees_count", "ratio_x", "ratio_low_x", "ratio_high_x"),
    *("outcome", "gate", "file_system"),
]
TOGETHER = [
    *KEY,
    *("files_count", "ratio_x", "ratio_low_x", "ratio_high_x", "next_low_x", "next_high_x"),
    *("spread_percent", "same_holm_p"),
]

AS_PARTS = {
    **{"metric": "slug", "comparison": "part", "model": "testbed", "work": "detail"},
    **{"ratio_x": "ours_x", "ratio_low_x": "ours_low_x", "ratio_high_x": "ours_high_x"},
}
"""What the ledger of a study calls these columns, by which it pools campaigns."""


@dataclass(frozen=True)
class Gathered:
    """Files of results, and what they say."""

    files: Sequence[Path]
    """In the order of their numbers, from 1 on."""
    results: Sequence[Results]
    """What each holds."""
    each: pd.DataFrame
    """A row for each comparison, metric and file that has it; `pooled` says whether it counts in
    `together`."""
    together: pd.DataFrame
    """A row for each that two files or more have and that may be pooled: the mean of such machines
    with its interval (`ratio_*`), the prediction interval for the next (`next_*`), how far machines
    lie apart beyond their own intervals (`spread_percent`), and the p-value of "they do not"
    (`same_holm_p`)."""

    @property
    def shared(self) -> pd.DataFrame:
        """Return the rows of `each` whose comparison is in two files or more."""
        counts = self.each.groupby(["metric", "comparison"])["file"].transform("nunique")
        return self.each[counts > 1]

    @property
    def alike(self) -> Sequence[Sequence[int]]:
        """Return the numbers of files whose machines look alike and may be one."""
        by_machine: dict[Any, list[int]] = {}
        for number, results in enumerate(self.results, start=1):
            by_machine.setdefault(results.machine.lasting, []).append(number)
        return [numbers for numbers in by_machine.values() if len(numbers) > 1]


def gather(files: Sequence[Path], chosen: Sequence[str] = ()) -> Gathered:
    """Return what files of results of one study say together.

    The files are as `fsgreen export` wrote them, one for each campaign. `chosen` are metrics; by
    default all that the files have. Raises FsgreenError if a file is damaged, newer or something
    else; if they are of several studies, or one is there twice; if a metric is in none of them.
    """
    results = [read(file) for file in files]
    _refuse_others(files, results)
    return Gathered(files, results, *tables(results, chosen))


def tables(
    results: Sequence[Results], chosen: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `each` and `together` of a `Gathered`."""
    known = {effect.metric for of_file in results for effect in of_file.effects}
    for name in chosen:
        if name not in known:
            raise unknown("metric of these files", name, known)
    varied = _varied(effect for of_file in results for effect in of_file.effects)
    each = pd.DataFrame(
        [
            row
            for number, of_file in enumerate(results, start=1)
            for row in _rows(number, of_file, varied)
            if not chosen or row["metric"] in chosen
        ],
        columns=EACH,
    )
    each = each.sort_values(["comparison", "file"], kind="stable", ignore_index=True)
    each["pooled"] = _pooled(each)
    return each, _together(each)


def _refuse_others(files: Sequence[Path], results: Sequence[Results]) -> None:
    first, seen = results[0], dict[str, Path]()
    for file, of_file in zip(files, results, strict=True):
        if of_file.study != first.study:
            raise FsgreenError(
                f"the files are of several studies: {first.study} and {of_file.study}",
                where=f"{files[0]} and {file}",
                next_step="gather those of one study",
            )
        text = of_file.text()
        if text in seen:
            raise FsgreenError(
                "two of the files are the same, and would count as two machines",
                where=f"{seen[text]} and {file}",
                next_step="leave one of them out",
            )
        seen[text] = file


def _varied(effects: Iterable[Effect]) -> set[str]:
    """Return the factors that comparisons are named by: those with several levels."""
    sides = {
        tuple({**effect.shared, **side}.items())
        for effect in effects
        for side in (effect.of, effect.over)
    }
    every = [dict(side) for side in sides]
    names = {name for side in every for name in side}
    return {name for name in names if len({side.get(name) for side in every}) > 1}


def _rows(number: int, of_file: Results, varied: set[str]) -> Iterator[dict[str, Any]]:
    simulated = of_file.testbed.kind in SIMULATED
    for effect in of_file.effects:
        workload = str(effect.shared.get("workload", effect.of.get("workload", "")))
        yield {
            "metric": effect.metric,
            "comparison": named(effect, varied),
            "kind": effect.kind,
            "file": number,
            "basis": "simulated" if simulated else "measured",
            "model": " ".join(filter(None, _simulator(of_file))) if simulated else "",
            "boundary": effect.boundary if effect.of_power else "",
            "work": _work(of_file, workload, effect),
            "n": effect.n,
            "degrees_count": math.nan if effect.degrees_count is None else effect.degrees_count,
            "ratio_x": effect.ratio.x,
            "ratio_low_x": math.nan if effect.ratio.low is None else effect.ratio.low,
            "ratio_high_x": math.nan if effect.ratio.high is None else effect.ratio.high,
            "outcome": effect.outcome,
            "gate": effect.gate,
            "file_system": str(effect.of.get("file_system", "")),
        }


def named(effect: Effect, varied: set[str]) -> str:
    """Return a comparison as people write it: `webserver: ext4/noatime over ext4/default`."""
    shared = _spelled(effect.shared, varied)
    sides = f"{_spelled(effect.of, varied)} over {_spelled(effect.over, varied)}"
    return f"{shared}: {sides}" if shared else sides


def _spelled(levels: Mapping[str, Any], varied: set[str]) -> str:
    workload, *configuration = (str(levels[name]) if name in levels else "" for name in NAMED)
    others = [
        f"{name} {level}" for name, level in levels.items() if name in varied and name not in NAMED
    ]
    return " ".join(filter(None, (workload, "/".join(filter(None, configuration)), *others)))


def _simulator(of_file: Results) -> Iterator[str]:
    testbed = of_file.testbed
    yield from (testbed.kind, testbed.clock, testbed.model)


def _work(of_file: Results, workload: str, effect: Effect) -> str:
    """Return what makes the work another one, in words and digests."""
    profile = of_file.profile
    scale = profile.scale.get(workload)
    told = [
        "at an unknown scale" if scale is None else f"at scale {scale:g}",
        f"{profile.measure_s:g} s after {profile.warmup_s:g} s",
        f"image of {profile.image_b / 2**20:g} MiB",
    ]
    if profile.window_s is not None:
        told.append(f"in windows of {profile.window_s:g} s")
    if text := of_file.workloads.get(workload):
        told.append(f"text {text[:8]}")
    if effect.of_power and effect.boundary == "modelled":
        sources = {meter.source_sha256[:8] for meter in of_file.meters}
        told.append(f"power by {' '.join(sorted(sources)) or 'an unknown model'}")
    return ", ".join(told)


def _pooled(each: pd.DataFrame) -> pd.Series:
    """Return which rows have an interval that says something, and another file's beside them."""
    width = each["ratio_high_x"] / each["ratio_low_x"]
    sound = (
        (each["outcome"] != "inconsistent")
        & (each["degrees_count"] > 0)
        & (each["ratio_x"] > 0)
        & each["ratio_low_x"].between(1 / WIDEST, WIDEST)
        & width.between(1 + SAME, WIDEST)
    )
    counts = each[sound].groupby(KEY)["file"].nunique()
    keys = pd.MultiIndex.from_frame(each[KEY])
    return sound & (counts.reindex(keys, fill_value=0).to_numpy() > 1)


def _together(each: pd.DataFrame) -> pd.DataFrame:
    of_parts = each[each["pooled"]].rename(columns=AS_PARTS)
    found = [estimates(of_file) for _, of_file in of_parts.groupby("file")]
    every = pooled(found)
    same = same_p(every)
    rows = [
        (
            *(key.slug, key.part, key.basis, key.boundary, key.model, key.detail),
            sum(key in of_file for of_file in found),
            *map(math.exp, (one.value, one.low, one.high, one.next_low, one.next_high)),
            100 * math.expm1(one.spread),
            same[key],
        )
        for key, one in every.items()
    ]
    table = pd.DataFrame(rows, columns=TOGETHER)
    return table.sort_values("comparison", kind="stable", ignore_index=True)


def differs(row: Mapping[Any, Any]) -> bool:
    """Return whether machines differ in a row of `together` by more than their intervals."""
    return bool(row["same_holm_p"] < stats.LEVEL)
