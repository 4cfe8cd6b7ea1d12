"""Meters: where power comes from, real or modelled, and how a trial records it."""

from fsgreen.meters.base import Chunk, Imported, Meter, Parser
from fsgreen.meters.capture import Capture, silence_s
from fsgreen.meters.drivers import DRIVERS, IMPORTERS, open_meters
from fsgreen.meters.host import HostSampler
from fsgreen.meters.powertable import power_table
from fsgreen.meters.rawtrace import reparse
from fsgreen.meters.readings import Reading, Readings

__all__ = [
    "DRIVERS",
    "IMPORTERS",
    "Capture",
    "Chunk",
    "HostSampler",
    "Imported",
    "Meter",
    "Parser",
    "Reading",
    "Readings",
    "open_meters",
    "power_table",
    "reparse",
    "silence_s",
]
