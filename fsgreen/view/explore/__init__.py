"""The explorer: cells, trials, traces and claims in widgets, with the lines behind them."""

from fsgreen.view.explore.claimexplorer import ClaimExplorer
from fsgreen.view.explore.explorer import Explorer

__all__ = ["ClaimExplorer", "Explorer"]
