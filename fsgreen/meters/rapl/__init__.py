"""The processor's energy counters (RAPL)."""
