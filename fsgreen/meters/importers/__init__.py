"""Meters whose readings come as files: each file is read whole, and every decision is told."""
