"""Workloads that bear one name and are not one: another version, or other arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fsgreen.meters.files.text import Report, some
from fsgreen.runs.formats import Run


def told_apart(runs: Sequence[tuple[Report, Run]]) -> list[Run]:
    """Return the runs, with what differs among those of one workload in its name.

    Runs without a variant stay as they are; what another lacks is "none" there. Tells the report of
    each file whose runs are renamed.
    """
    names: dict[Any, set[str]] = {}
    for _, run in runs:
        names.setdefault(run.values.get("workload"), set()).update(run.variant)
    seen: dict[Any, dict[str, set[str]]] = {workload: {} for workload in names}
    for _, run in runs:
        if not run.variant:
            continue
        workload = run.values.get("workload")
        for name in names[workload]:
            seen[workload].setdefault(name, set()).add(run.variant.get(name, ""))
    renamed = []
    for report, run in runs:
        workload = run.values.get("workload")
        differing = {
            name: run.variant.get(name, "")
            for name in sorted(names[workload])
            if run.variant and len(seen[workload][name]) > 1
        }
        if not differing:
            renamed.append(run)
            continue
        part = ", ".join(f"{name} {text or 'none'}" for name, text in differing.items())
        renamed.append(replace(run, values={**run.values, "workload": f"{workload} ({part})"}))
        for name in differing:
            sentence = (
                f"{workload} is several workloads, whose {name} differs: "
                f"{some(sorted(text or 'none' for text in seen[workload][name]))}."
            )
            if sentence not in report.decisions:
                report.tell(sentence)
    return renamed
