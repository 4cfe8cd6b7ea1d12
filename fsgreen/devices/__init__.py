"""Devices: they have sectors, a queue and a scheduler, and are brought into states."""
