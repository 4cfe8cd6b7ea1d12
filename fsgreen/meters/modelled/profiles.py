"""Power profiles: the parameters of a power model in a TOML file, each with its source.

A profile is one of two models. `Linear` is linear between idle and peak power, after Fan, Weber and
Barroso, "Power provisioning for a warehouse-sized computer" (ISCA 2007, section 3). `Components`
has idle power, and what the activity of each part adds. Modelled power is what a machine would
draw, given the activity of its processors and disk. Its boundary is always `modelled`, and it
decides no claim on power.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, Field, model_validator

from fsgreen import schema
from fsgreen.errors import unknown
from fsgreen.meters.core.host import HostSampler
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.core.settings import Above0, From0, Texts
from fsgreen.meters.core.workingtime import ProcessorTime
from fsgreen.meters.modelled.activity import BY_NAME, activity, amount, clock_factor, disk_states

SHIPPED = Path(__file__).with_name("profiles.toml")
SHARES = {"cpu": "cpu_busy_x", "disk": "disk_busy_x"}
MAX_EXPONENT = 3.0
TRANSFERS = {"disk_read_w", "disk_write_w"}
NEXT_STEP = "docs/meters/model.md shows both kinds of profile; fsgreen calibrate writes one"


class Profile(Protocol):
    """A power model of some parts."""

    @property
    def covers(self) -> tuple[str, ...]:
        """The parts whose power is included."""

    @property
    def idle_w(self) -> float:
        """The power without any activity, in watts."""

    @property
    def uses_disk(self) -> bool:
        """Whether it depends on what the disk does."""

    def power_w(self, activity: Mapping[str, float]) -> float:
        """Return the mean power over a span. A rate that is NaN adds nothing."""

    def describe(self) -> str:
        """Return the parameters and their sources in one sentence."""


def _stated(source: str) -> str:
    if not source.strip():
        raise ValueError("there is no source: name a study and section, a data sheet, or a fit")
    return source


Source = Annotated[str, AfterValidator(_stated)]


class Linear(schema.Strict):
    """A linear model of one part: its idle and peak power in watts, and what drives it."""

    driven_by: Literal["cpu", "disk"]
    covers: Texts
    idle_w: From0
    peak_w: From0
    source: Source

    @property
    def uses_disk(self) -> bool:
        """Whether it depends on what the disk does."""
        return self.driven_by == "disk"

    def power_w(self, activity: Mapping[str, float]) -> float:
        """Return the power at the busy share of time, which is limited to 0 to 1."""
        share = activity[SHARES[self.driven_by]]
        if not isfinite(share):
            return self.idle_w
        return self.idle_w + (self.peak_w - self.idle_w) * min(1.0, max(0.0, share))

    def describe(self) -> str:
        """Return the parameters and their source in one sentence."""
        return f"{self.idle_w:g} to {self.peak_w:g} W by {self.driven_by} ({self.source})"


class Parameter(schema.Strict):
    """The value of a term, and its source if it is not that of the profile."""

    value: From0
    source: Source | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_number(cls, given: Any) -> Any:
        return {"value": given} if isinstance(given, int | float) else given


def _known(terms: dict[str, Parameter]) -> dict[str, Parameter]:
    for name in terms:
        if name not in BY_NAME:
            raise ValueError(unknown("term", name, BY_NAME).what)
    return terms


class Components(schema.Strict):
    """A component model: idle power in watts, parameters of `TERMS`, disk rate, clock exponent.

    `disk_rate_b_s` separates transfer from seek (`disk_states`). `fit` has information about the
    calibration.
    """

    covers: Texts
    idle_w: From0
    source: Source
    terms: Annotated[dict[str, Parameter], AfterValidator(_known)] = {}  # noqa: RUF012
    disk_rate_b_s: Above0 | None = None
    clock_exponent: Annotated[float, Field(ge=0, le=MAX_EXPONENT)] = 0.0
    clock_base_hz: Above0 | None = None
    fit: Any = None

    @model_validator(mode="after")
    def _complete(self) -> Components:
        if self.clock_exponent and self.clock_base_hz is None:
            raise ValueError("clock_exponent needs its clock_base_hz")
        if self.terms.keys() & TRANSFERS and self.disk_rate_b_s is None:
            raise ValueError("terms of a disk's transfers need disk_rate_b_s")
        return self

    @property
    def uses_disk(self) -> bool:
        """Whether it depends on what the disk does."""
        return any(name.startswith("disk_") for name in self.terms)

    def power_w(self, activity: Mapping[str, float]) -> float:
        """Return the mean power over a span, never below zero. A rate that is NaN adds nothing.

        An unreadable clock counts as the base clock.
        """
        factor = clock_factor(
            activity["cpu_clock_hz"], self.clock_base_hz or NAN, self.clock_exponent
        )
        done = {**activity, **disk_states(activity, self.disk_rate_b_s or NAN)}
        parts = (
            term.value * amount(BY_NAME[name], done, factor) for name, term in self.terms.items()
        )
        return max(0.0, self.idle_w + sum(part for part in parts if isfinite(part)))

    def describe(self) -> str:
        """Return the parameters and their sources in one sentence."""
        parts = [f"{self.idle_w:g} W idle"]
        for name, term in self.terms.items():
            unit = "W" if name.endswith("_w") else "J"
            own = "" if term.source is None else f" ({term.source})"
            parts.append(f"{term.value:g} {unit} {BY_NAME[name].per}{own}")
        if self.disk_rate_b_s:
            parts.append(f"a disk of {self.disk_rate_b_s / 1e6:g} MB/s")
        if self.clock_base_hz and self.clock_exponent:
            base_ghz = self.clock_base_hz / 1e9
            parts.append(f"cores by (clock / {base_ghz:g} GHz)^{self.clock_exponent:g}")
        return f"{', '.join(parts)} ({self.source})"


def load_profile(name: str, file: Path | None = None) -> Profile:
    """Return a profile from a file; by default, one of those that come with fsgreen.

    Raises FsgreenError if the file or the profile does not exist; if a key or a term is unknown; if
    a parameter is not a number from 0 up; or if a source is missing.
    """
    document = schema.read(file or SHIPPED, "file of power profiles", NEXT_STEP)
    profiles = document.values
    if name not in profiles:
        raise unknown("power profile", name, profiles, where=document.file, next_step=NEXT_STEP)
    if isinstance(profiles[name], Mapping) and "driven_by" in profiles[name]:
        return document.as_(Linear, (name,))
    return document.as_(Components, (name,))


class ModelledPower:
    """The mean power in watts since the previous call, as a meter averages since its last reading.

    The first call returns idle power. A disk counts as idle if there is no device, or if it has
    just changed, as then there is no difference to take. The process `server` adds nothing.
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
    """Return a sentence for each part of a model for which this kernel has no counter."""
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
