"""Workloads that bear one name and are not one: another version, or other arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fsgreen.meters.files.text import Report, some
from fsgreen.runs.formats import Run


def told_apart(runs: Sequence[tuple[Report, Run]]) -> list[Run]:
    """Return the runs, with what differs among those of one workload in its name.

    Runs without a variant stay as they are. Tells the report of each file whose runs are renamed.
    """
    seen: dict[Any, dict[str, set[str]]] = {}
    for _, run in runs:
        known = seen.setdefault(run.values.get("workload"), {})
        for name, text in run.variant.items():
            known.setdefault(name, set()).add(text)
    renamed = []
    for report, run in runs:
        workload = run.values.get("workload")
        differing = {
            name: text for name, text in run.variant.items() if len(seen[workload][name]) > 1
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
