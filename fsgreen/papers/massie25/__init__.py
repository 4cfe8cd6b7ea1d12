"""Massie et al.: energy efficiency of file systems on NVMe drives (2025)."""
