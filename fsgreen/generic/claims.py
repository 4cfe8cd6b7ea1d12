"""The claims of a study of one's own, if it has any."""

from fsgreen.analysis.claims import Claims, sources_of, write

__all__ = ["claims_of", "sources_of", "write"]

claims_of = Claims.of
