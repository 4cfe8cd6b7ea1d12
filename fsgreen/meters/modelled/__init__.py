"""The model meter: profiles of power, what drives them, and how they are fitted.

`fit` and `table` need pandas and scipy and are imported where they are used.
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
