"""The claims of a study of one's own, if it has any."""

from fsgreen.analysis.claims import write

__all__ = ["write"]
