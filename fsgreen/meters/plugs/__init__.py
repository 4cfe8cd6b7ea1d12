"""Mains plugs over HTTP: Shelly and Tasmota; indicative."""
