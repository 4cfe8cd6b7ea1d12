"""The driver `emulator`: a power model, read as by a Watts Up? on a pseudo-terminal."""

from __future__ import annotations

from pathlib import Path

from fsgreen.meters.base import DeviceOf, Driver, Meter
from fsgreen.meters.emulators.wattsup import EmulatedMeter
from fsgreen.meters.modelled import ModelledPower, left_out, load_profile
from fsgreen.meters.settings import Settings
from fsgreen.meters.wattsup.packets import WattsUpParser
from fsgreen.simdisk import Control


def open_emulator(settings: Settings, device_of: DeviceOf) -> Meter:
    """Open the power model that the setting `profile` names, in `profile_file` if that is given.

    `control` is the socket of a simulated disk, whose server's processor time is left out.
    """
    name, file = settings.text("profile"), settings.text("profile_file", "")
    control = settings.text("control", "")
    settings.finish()
    profile = load_profile(name, Path(file).expanduser() if file else None)
    sentences = (
        f"power model {name}, {profile.describe()}, read as by a Watts Up? PRO",
        *left_out(profile),
        *(["without the processor time of the simulated disk's server"] if control else []),
    )
    apart = Control(Path(control)).processor_s if control else None
    return EmulatedMeter(
        ModelledPower(profile, device_of, apart),
        name=settings.name,
        covers=profile.covers,
        source="; ".join(sentences),
    )


DRIVER = Driver(
    name="emulator",
    kind="stream",
    summary="no meter: a power model, by default of fast10's server and disk (modelled)",
    open=open_emulator,
    parser=WattsUpParser,
)
