"""A run as a row of the table: its levels, its quantities, and what follows from these."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from fsgreen.design import factors
from fsgreen.meters.files.text import Report
from fsgreen.runs.formats import Run
from fsgreen.runs.meanings import LEVELS, UNITS, number

AGREEMENT = 0.05
"""How far energy may be from power times duration, and work from throughput times duration."""


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
