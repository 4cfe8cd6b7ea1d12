"""Devices: what has sectors, a queue and a scheduler, and the states of it."""
