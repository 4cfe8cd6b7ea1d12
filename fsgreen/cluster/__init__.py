"""An analysis on the cores of other machines, which are lent to it at an address.

By Dask, which is imported only where that is asked for.
"""

from fsgreen.cluster.executor import Borrowed
from fsgreen.cluster.meeting import at

__all__ = ["Borrowed", "at"]
