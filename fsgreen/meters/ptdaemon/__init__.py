"""Logs of SPEC PTDaemon."""
