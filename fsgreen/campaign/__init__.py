"""Campaigns: the only package that drives testbed, workload and meters together."""

from fsgreen.campaign.drive import run
from fsgreen.campaign.measure import measure
from fsgreen.campaign.refused import NotAll
from fsgreen.campaign.state import Campaign, newest
from fsgreen.campaign.status import status
from fsgreen.campaign.testbedfile import TestbedFile

__all__ = ["Campaign", "NotAll", "TestbedFile", "measure", "newest", "run", "status"]
