"""The driver `emulator`: a power model, read as by a Watts Up? on a pseudo-terminal."""

from __future__ import annotations

from fsgreen.meters.base import DeviceOf, Driver, Meter
from fsgreen.meters.emulator import EmulatedMeter
from fsgreen.meters.model import ModelledPower, load_profile
from fsgreen.meters.settings import Settings
from fsgreen.meters.wattsup_packets import WattsUpParser


def open_emulator(settings: Settings, device_of: DeviceOf) -> Meter:
    """Open the power model that the setting `profile` names."""
    profile_name = settings.text("profile")
    settings.finish()
    profile = load_profile(profile_name)
    return EmulatedMeter(
        ModelledPower(profile, device_of),
        name=settings.name,
        covers=profile.covers,
        source=f"power model {profile_name}, {profile.idle_w:g} to {profile.peak_w:g} W by "
        f"{profile.driven_by} ({profile.source}), read as by a Watts Up? PRO",
    )


DRIVER = Driver(
    name="emulator",
    kind="stream",
    summary="no meter: a power model of fast10's server and disk (modelled)",
    open=open_emulator,
    parser=WattsUpParser,
)
