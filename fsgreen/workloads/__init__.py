"""Workloads: what runs in a trial. `load_workload` gives one, `names` lists them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

from fsgreen.errors import unknown
from fsgreen.workloads.base import Outcome, Workload
from fsgreen.workloads.wml import WmlWorkload

__all__ = ["Outcome", "Workload", "load_workload", "names", "summary"]

_PERSONALITIES = Path(__file__).parent / "personalities"


def names() -> list[str]:
    """Return the names of the workloads that ship with fsgreen."""
    return sorted(file.stem for file in _PERSONALITIES.glob("*.f"))


def summary(name: str) -> str:
    """Return the first sentence of a shipped workload's text."""
    lines = (_PERSONALITIES / f"{name}.f").read_text(encoding="utf-8").splitlines()
    told = itertools.takewhile(lambda line: line.strip() not in ("", "#"), lines)
    return " ".join(line.removeprefix("#").strip() for line in told)


def load_workload(
    name: str, scale: float = 1.0, variables: Mapping[str, object] | None = None
) -> Workload:
    """Return a workload at a scale.

    Parameters
    ----------
    name : str
        One of `names()`, or the path of a text of your own, which ends in `.f`.
    scale : float
        Share of the published size: of the number of files (their sizes stay), or, where there
        are always ten files as in `oltp`, of their size.
    variables : mapping of str to object, optional
        Values of further variables of its text: `readers` of `sequential-readers`, say.

    Raises
    ------
    FsgreenError
        If there is no such workload, or the scale is not above 0.
    """
    if name.endswith(".f") and Path(name).is_file():
        return WmlWorkload(Path(name).stem, Path(name), scale, variables)
    file = _PERSONALITIES / f"{name}.f"
    if name not in names():
        raise unknown("workload", name, names(), where=_PERSONALITIES)
    return WmlWorkload(name, file, scale, variables)
