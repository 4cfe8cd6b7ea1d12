"""The plan and the identity with which a campaign began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsgreen import paths
from fsgreen.design.plan import Plan
from fsgreen.trial import read_of_campaign


def read_plan(campaign: str) -> Plan:
    """Return the plan under which a campaign is measured.

    Raises FsgreenError if there is no such campaign, or its plan is damaged or was edited.
    """
    return Plan.from_json(read_of_campaign(campaign, paths.PLAN), paths.raw(campaign) / paths.PLAN)


def read_identity(campaign: str) -> dict[str, Any]:
    """Return `campaign.json`, the identity of a campaign.

    It has the testbed, the meters, the workloads, the idle power, the first audit, and the findings
    of the preflight table at each start.

    Raises FsgreenError if there is no such campaign, or its first trial has not begun.
    """
    return read_of_campaign(campaign, paths.IDENTITY)


def simulated_disk_of(identity: Mapping[str, Any]) -> str | None:
    """Return the model of a campaign's simulated disk, given its identity; None without one.

    A guest may have one, too. Cells may name other models.
    """
    model: str | None = identity["testbed"].get("model")
    return model


def in_guest(identity: Mapping[str, Any]) -> bool:
    """Return whether a campaign is measured in a virtual machine, given its identity."""
    kind: str = identity["testbed"]["kind"]
    return kind == "vm"
