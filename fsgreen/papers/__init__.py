"""What is particular to each published study."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_plan


def step(campaign: str, name: str) -> ModuleType:
    """Return a step as the study of a campaign does it: `fsgreen.papers.STUDY.NAME`.

    Raises
    ------
    FsgreenError
        If there is no such campaign, or no analysis of its study.
    """
    study = read_plan(campaign).study
    check_analysed(study)
    return import_module(f"fsgreen.papers.{study}.{name}")


def check_analysed(study: str) -> None:
    """Raise `FsgreenError` if no analysis of a study is in `fsgreen/papers`."""
    if find_spec(f"fsgreen.papers.{study}") is None:
        raise FsgreenError(
            f"nothing analyses a study of the name {study}",
            where="fsgreen/papers",
            next_step="copy one that is analysed, such as studies/fast10.yaml, to a file of your "
            "own, and keep its line `study: fast10`",
        )
