"""Campaigns: the only part that drives testbed, workload and meters together."""

from fsgreen.campaign.drive import run
from fsgreen.campaign.state import Campaign

__all__ = ["Campaign", "run"]
