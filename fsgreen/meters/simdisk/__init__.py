"""The energy account of a simulated disk."""
