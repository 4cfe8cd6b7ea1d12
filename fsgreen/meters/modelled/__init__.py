"""The model meter: profiles of power, the activity that drives them, and their fit.

`fit` and `table` need pandas and scipy, so they are imported where they are used.
"""

from fsgreen.meters.modelled.profiles import (
    Components,
    Linear,
    ModelledPower,
    Profile,
    left_out,
    load_profile,
)

__all__ = ["Components", "Linear", "ModelledPower", "Profile", "left_out", "load_profile"]
