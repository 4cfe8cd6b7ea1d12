"""A run: what a reader gives of it, told from others of its name, and as a row of the table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fsgreen.design import factors
from fsgreen.meters.files.text import Report, some
from fsgreen.runs.meanings import LEVELS, UNITS, Meanings, number

AGREEMENT = 0.05
"""How far energy may be from power times duration, and work from throughput times duration."""


@dataclass(frozen=True)
class Run:
    """One run: what it is called in its file, its columns of `trials.csv`, and what else it says.

    `values` are in the units of their names; `aside` are texts of columns without a known meaning.
    `variant` is what else the file says of the workload, by its names there.
    """

    name: str
    values: Mapping[str, Any]
    aside: Mapping[str, str] = field(default_factory=dict)
    variant: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A format of files with runs.

    `recognises` gets the beginning of a file and never raises; `read` raises FsgreenError on
    anything that it cannot trust.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[bytes, Meanings, Report], list[Run]]


def row_of(run: Run, levels: Mapping[str, str], report: Report) -> dict[str, Any]:
    """Return a run with the levels that its path names, checked, with what its values imply.

    Raises FsgreenError for what cannot be, and where path and file, or two quantities, disagree.
    """
    values = dict(run.values)
    for factor, level in levels.items():
        if factor != "workload" and str(values.get(factor, level)) != level:
            report.refuse(
                f"the path says {factor} {level}, and the file {values[factor]}",
                f"leave {{{factor}}} out of --path, or the column aside",
            )
        values[factor] = level
    for factor in LEVELS:
        if factor in values and not str(values[factor]).strip():
            report.refuse(f"{run.name or 'the run'} has no {factor}", "fill it in")
    if "block" in values:
        if not re.fullmatch(r"\d{1,9}", str(values["block"])):
            report.refuse(f"the block {values['block']!r} is no whole number", "number the blocks")
        values["block"] = int(values["block"])
    for factor in factors.names(values):
        if factors.get(factor).numeric:
            values[factor] = number(str(values[factor]), factor, report.where)
    for column, _ in UNITS.values():
        value = values.get(column, 0.0)
        if value < 0 or math.isinf(value) or (column == "duration_s" and values.get(column) == 0):
            report.refuse(f"{run.name or 'the run'} has {column} {value:g}", "mend the file")
    return _derived(values, run.name, report)


def _derived(values: dict[str, Any], name: str, report: Report) -> dict[str, Any]:
    """Add the rate of a total, or the total of a rate, and efficiency; refuse what disagrees."""
    duration_s = values.get("duration_s", math.nan)
    for total, rate in (("work_ops", "throughput_ops_s"), ("energy_j", "power_w")):
        whole, each = values.get(total, math.nan), values.get(rate, math.nan)
        if abs(each * duration_s - whole) > AGREEMENT * max(whole, each * duration_s):
            report.refuse(
                f"{name or 'the run'}: {total} {whole:g} is not {rate} {each:g} times duration_s "
                f"{duration_s:g}",
                "check the units of --map",
            )
        if math.isnan(each) and not math.isnan(whole / duration_s):
            values[rate] = whole / duration_s
        elif math.isnan(whole) and not math.isnan(each * duration_s):
            values[total] = each * duration_s
    energy_j, work_ops = values.get("energy_j", 0), values.get("work_ops", math.nan)
    if energy_j > 0 and not math.isnan(work_ops):
        values["efficiency_ops_j"] = work_ops / energy_j
    return values


def told_apart(runs: Sequence[tuple[Report, Run]]) -> list[Run]:
    """Return the runs, with what differs among those of one workload in its name.

    Runs without a variant stay as they are; what another lacks is "none" there. Tells the report of
    each file whose runs are renamed.
    """
    variants: dict[Any, list[Mapping[str, str]]] = {}
    for _, run in runs:
        variants.setdefault(run.values.get("workload"), []).append(run.variant)
    differing = {workload: _differing(filter(None, each)) for workload, each in variants.items()}
    renamed = []
    for report, run in runs:
        workload = run.values.get("workload")
        seen = differing[workload] if run.variant else {}
        if not seen:
            renamed.append(run)
            continue
        part = ", ".join(f"{name} {run.variant.get(name) or 'none'}" for name in seen)
        renamed.append(replace(run, values={**run.values, "workload": f"{workload} ({part})"}))
        for name, texts in seen.items():
            sentence = (
                f"{workload} is several workloads, whose {name} differs: "
                f"{some(sorted(text or 'none' for text in texts))}."
            )
            if sentence not in report.decisions:
                report.tell(sentence)
    return renamed


def _differing(variants: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
    """Return what differs among variants of one workload, and what each has there."""
    several = list(variants)
    names = sorted({name for variant in several for name in variant})
    texts = {name: {variant.get(name, "") for variant in several} for name in names}
    return {name: each for name, each in texts.items() if len(each) > 1}
