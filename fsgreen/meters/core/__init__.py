"""What every meter has to do with: drivers found, settings, readings, raw bytes, capture."""
