"""The campaigns of a fleet's testbeds: their names, and the order of their trials."""

from __future__ import annotations

from dataclasses import replace

from fsgreen.design.blocks import derive_seed
from fsgreen.design.study import Study


def member(fleet: str, testbed: str) -> str:
    """Return the name of the campaign of one testbed of a fleet."""
    return f"{fleet}.{testbed}"


def parted(campaign: str) -> tuple[str, str]:
    """Return the fleet and the testbed in the name of a campaign; ("", "") if it has none.

    The part before the last dot may have dots. The name of a testbed has none.
    """
    fleet, _, testbed = campaign.rpartition(".")
    return (fleet, testbed) if fleet and testbed else ("", "")


def on_testbed(study: Study, testbed: str) -> Study:
    """Return a study as a testbed of a fleet measures it: with its own seed, and so its own order.

    The seed depends only on the study's seed and the testbed's name.
    """
    return replace(study, seed=derive_seed(study.seed, testbed))


def as_measured(study: Study, campaign: str) -> Study:
    """Return a study as the campaign of this name measures it.

    If the name is that of a fleet's testbed, the study has that testbed's seed. So a testbed that
    is measured by itself still belongs to the fleet.
    """
    _, testbed = parted(campaign)
    return on_testbed(study, testbed) if testbed else study
