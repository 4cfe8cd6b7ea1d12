"""Modelled power: what a machine would draw, from what its processors and disk are doing.

The result is a model driven by the activity of this machine: its boundary is always `modelled`,
and it decides no claim on power.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from fsgreen.meters.core.host import HostSampler, ProcessorTime
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.modelled.activity import activity
from fsgreen.meters.modelled.profiles import Components, Profile
from fsgreen.meters.modelled.terms import BY_NAME


class ModelledPower:
    """Mean power since the previous call, in watts, as a meter averages since its last reading.

    The first call returns idle power. A disk whose device is none or has just changed idles:
    there is nothing to take a difference of. The process `server` adds nothing.
    """

    def __init__(
        self,
        profile: Profile,
        device_of: Callable[[], str | None],
        server: ProcessorTime | None = None,
    ) -> None:
        self._profile = profile
        self._device_of = device_of
        self._sampler = HostSampler(self._device, server)
        self._device_name: str | None = None
        self._before: dict[str, float] | None = None

    def __call__(self) -> float:
        """Return the mean power since the previous call."""
        before, device = self._before, self._device_name
        now = self._before = self._sampler.sample()
        if before is None:
            return self._profile.idle_w
        done = activity(before, now)
        if self._device_name != device:
            done |= {name: NAN for name in done if name.startswith("disk_")}
        return self._profile.power_w(done)

    def _device(self) -> str | None:
        self._device_name = self._device_of() if self._profile.uses_disk else None
        return self._device_name


def left_out(profile: Profile) -> list[str]:
    """Return a sentence for each part of a model that this machine's kernel cannot drive."""
    if not isinstance(profile, Components):
        return []
    row = HostSampler(lambda: None).sample()
    sentences = [
        f"{name} is left out: the kernel gives no {needs} here"
        for name in profile.terms
        if (needs := BY_NAME[name].needs) and needs.startswith("cpu_") and not isfinite(row[needs])
    ]
    if profile.clock_exponent and not isfinite(row["cpu_cycles_count"]):
        sentences.append("the cores' clock is left out: the kernel does not tell it here")
    return sentences
