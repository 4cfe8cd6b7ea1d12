"""Emulated Watts Ups whose power a test says."""

from functools import partial

from fsgreen.meters.core.emulation import EmulatedMeter
from fsgreen.meters.wattsup.driver import DRIVER
from fsgreen.meters.wattsup.emulator import Emulator


def wattsup(power_w, name="system", *, covers=None, source="test", pace_s=1.0):
    """A meter that shows the watts of `power_w`, a record every `pace_s`."""
    return EmulatedMeter(
        DRIVER,
        {"name": name, "driver": "wattsup"},
        partial(Emulator, pace_s=pace_s),
        power_w,
        covers=covers or (name,),
        source=source,
    )
