"""Every test has a registry of its own and leaves nothing mounted or attached."""

from loops import foreign_loop, private_registry

__all__ = ["foreign_loop", "private_registry"]
