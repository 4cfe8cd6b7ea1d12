"""Joukov and Sipek: GreenFS (2008)."""
