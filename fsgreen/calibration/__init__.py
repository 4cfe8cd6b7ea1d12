"""Calibration: a power model fitted to a meter, by exercising the machine step by step."""

from fsgreen.calibration.calibrate import calibrate

__all__ = ["calibrate"]
