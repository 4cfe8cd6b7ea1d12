"""Meters: the sources of power readings, real or modelled, and their recording during a trial."""

from fsgreen.meters.core.base import Chunk, Driver, Imported, Importer, Meter, Parser
from fsgreen.meters.core.capture import Capture, silence_s
from fsgreen.meters.core.host import HostSampler
from fsgreen.meters.core.powertable import power_table
from fsgreen.meters.core.rawtrace import reparse
from fsgreen.meters.core.readings import Reading, Readings
from fsgreen.meters.core.registry import open_meters
from fsgreen.meters.core.settings import MeterSettings, Settings

__all__ = [
    "Capture",
    "Chunk",
    "Driver",
    "HostSampler",
    "Imported",
    "Importer",
    "Meter",
    "MeterSettings",
    "Parser",
    "Reading",
    "Readings",
    "Settings",
    "open_meters",
    "power_table",
    "reparse",
    "silence_s",
]
