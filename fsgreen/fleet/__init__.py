"""One study on many testbeds: a worker offers each, and home lets them measure and gathers trials.

By Dask, which is imported only where a fleet measures.
"""

from fsgreen.design.members import member
from fsgreen.fleet.fleetfile import Fleet, read
from fsgreen.fleet.measure import measure
from fsgreen.fleet.status import is_of_fleet, status

__all__ = ["Fleet", "is_of_fleet", "measure", "member", "read", "status"]
