"""Modelled power: what a machine would draw, from what its processors and disk are doing.

Linear between idle and peak, after Fan, Weber and Barroso, "Power provisioning for a
warehouse-sized computer" (ISCA 2007, section 3). The result is a model of another machine driven
by the activity of this one: its boundary is always `modelled`, and it decides no claim on power.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import isfinite
from typing import Any

from fsgreen.errors import unknown
from fsgreen.meters.host import HostSampler

WORKING = ("cpu_user_s", "cpu_system_s")
RESTING = ("cpu_iowait_s", "cpu_idle_s", "cpu_steal_s")
"""Waiting for a disk is idling to a processor, and stolen time was another machine's."""


@dataclass(frozen=True)
class Profile:
    """Idle and peak power of one part in watts, and what drives it ("cpu" or "disk")."""

    driven_by: str
    covers: tuple[str, ...]
    idle_w: float
    peak_w: float
    source: str

    def power_w(self, busy_share: float) -> float:
        """Power at a share of time busy; a share beyond 0 to 1 is held at its end."""
        return self.idle_w + (self.peak_w - self.idle_w) * min(1.0, max(0.0, busy_share))


def load_profile(name: str) -> Profile:
    """Return a profile of `profiles.toml`; raises FsgreenError naming the known ones."""
    profiles = _profiles()
    if name not in profiles:
        raise unknown("power profile", name, profiles, where="fsgreen/meters/profiles.toml")
    values = profiles[name]
    return Profile(**{**values, "covers": tuple(values["covers"])})


class ModelledPower:
    """Mean power since the previous call, in watts, as a meter averages since its last reading.

    The first call returns idle power, and so does a disk's when its device is none or has just
    changed: there is nothing to take a difference of.
    """

    def __init__(self, profile: Profile, device_of: Callable[[], str | None]) -> None:
        self._profile = profile
        self._disk = profile.driven_by == "disk"
        self._device_of = device_of
        self._sampler = HostSampler(self._device)
        self._device_name: str | None = None
        self._before: dict[str, float] | None = None

    def __call__(self) -> float:
        """Return the mean power since the previous call."""
        before, device = self._before, self._device_name
        now = self._before = self._sampler.sample()
        if before is None or self._device_name != device:
            return self._profile.idle_w
        spent = {name: now[name] - before[name] for name in now}
        if not self._disk:
            working_s = sum(spent[name] for name in WORKING)
            whole_s = working_s + sum(spent[name] for name in RESTING)
            share = working_s / whole_s if whole_s > 0 else 0.0
        else:
            share = spent["disk_busy_s"] / spent["time_s"] if spent["time_s"] > 0 else 0.0
        if not isfinite(share):
            return self._profile.idle_w
        return self._profile.power_w(share)

    def _device(self) -> str | None:
        self._device_name = self._device_of() if self._disk else None
        return self._device_name


@cache
def _profiles() -> dict[str, dict[str, Any]]:
    text = resources.files("fsgreen.meters").joinpath("profiles.toml").read_text("utf-8")
    return tomllib.loads(text)
