"""Stacks: what makes a directory of a device."""
