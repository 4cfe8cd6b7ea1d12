"""The campaigns of a fleet's testbeds: what they are called, and the order of their trials."""

from __future__ import annotations

from dataclasses import replace

from fsgreen.design.blocks import derive_seed
from fsgreen.design.study import Study


def member(fleet: str, testbed: str) -> str:
    """Return the name of the campaign of one testbed of a fleet."""
    return f"{fleet}.{testbed}"


def parted(campaign: str) -> tuple[str, str]:
    """Return the fleet and the testbed that the name of a campaign tells, "" where it tells none.

    What a fleet's campaigns are called may have dots of its own; the name of a testbed has none.
    """
    fleet, _, testbed = campaign.rpartition(".")
    return (fleet, testbed) if fleet and testbed else ("", "")


def on_testbed(study: Study, testbed: str) -> Study:
    """Return a study as a testbed of a fleet measures it: with a seed, and so an order, of its own.

    It is another one than that of the study, and the same each time.
    """
    return replace(study, seed=derive_seed(study.seed, testbed))


def as_measured(study: Study, campaign: str) -> Study:
    """Return a study as the campaign of a name measures it: on a testbed of a fleet, or as it is.

    So one testbed can be measured by itself, and is part of the fleet all the same.
    """
    _, testbed = parted(campaign)
    return on_testbed(study, testbed) if testbed else study
