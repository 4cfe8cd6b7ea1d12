"""The power of an SSD, by its own account (NVMe)."""
