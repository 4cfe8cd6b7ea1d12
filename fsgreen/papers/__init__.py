"""What is particular to each published study."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from fsgreen.reduce import read_plan


def step(campaign: str, name: str) -> ModuleType:
    """Return a step as the study of a campaign does it, by `room`.

    Raises FsgreenError if there is no such campaign.
    """
    return room(read_plan(campaign).study, name)


def room(study: str, name: str) -> ModuleType:
    """Return a step as a study does it.

    That is `fsgreen.papers.STUDY.NAME` for a study that has a room here, else
    `fsgreen.generic.NAME`.
    """
    place = f"papers.{study}" if has_room(study) else "generic"
    return import_module(f"fsgreen.{place}.{name}")


def has_room(study: str) -> bool:
    """Return whether something is particular to a study."""
    return (Path(__file__).parent / study).is_dir()


def has_step(study: str, name: str) -> bool:
    """Return whether a study's own room has a step of that name."""
    return (Path(__file__).parent / study / f"{name}.py").is_file()
