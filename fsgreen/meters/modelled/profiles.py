"""Power profiles: the parameters of a model in a TOML file, each with its source; and its power.

A profile is one of two models. `Linear` between idle and peak, after Fan, Weber and Barroso, "Power
provisioning for a warehouse-sized computer" (ISCA 2007, section 3). `Components`: idle power and
what each part adds for what it does. Modelled power is what a machine would draw, from what its
processors and disk are doing: its boundary is always `modelled`, and it decides no claim on power.
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
        """Power while nothing is done."""

    @property
    def uses_disk(self) -> bool:
        """Whether it depends on what the disk does."""

    def power_w(self, activity: Mapping[str, float]) -> float:
        """Return the mean power over a span; what is not readable adds nothing."""

    def describe(self) -> str:
        """Return the parameters and their sources in one sentence."""


def _stated(source: str) -> str:
    if not source.strip():
        raise ValueError("there is no source: name a study and section, a data sheet, or a fit")
    return source


Source = Annotated[str, AfterValidator(_stated)]


class Linear(schema.Strict):
    """Idle and peak power of one part in watts, and what drives it."""

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
        """Power at a share of time busy; a share beyond 0 to 1 is held at its end."""
        share = activity[SHARES[self.driven_by]]
        if not isfinite(share):
            return self.idle_w
        return self.idle_w + (self.peak_w - self.idle_w) * min(1.0, max(0.0, share))

    def describe(self) -> str:
        """Return the parameters and their source in one sentence."""
        return f"{self.idle_w:g} to {self.peak_w:g} W by {self.driven_by} ({self.source})"


class Parameter(schema.Strict):
    """The value of a term, and its source where that is not the profile's."""

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
    """Idle power in watts, the parameters of `TERMS`, the disk's rate, the exponent of the clock.

    `disk_rate_b_s` tells transfer from seek (see `disk_states`). `fit` is what a calibration tells
    of itself.
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
            raise ValueError("what a disk transfers needs its disk_rate_b_s")
        return self

    @property
    def uses_disk(self) -> bool:
        """Whether it depends on what the disk does."""
        return any(name.startswith("disk_") for name in self.terms)

    def power_w(self, activity: Mapping[str, float]) -> float:
        """Return the mean power over a span, never below zero; what is not readable adds nothing.

        A clock that is not readable counts as the base clock.
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
    """Return a profile of a file, by default of those shipped.

    Raises FsgreenError where the file or the profile is not there (naming those that are), where a
    key or a term is unknown, a parameter is not a number from 0 up, or a source is missing.
    """
    document = schema.read(file or SHIPPED, "file of power profiles", NEXT_STEP)
    profiles = document.values
    if name not in profiles:
        raise unknown("power profile", name, profiles, where=document.file, next_step=NEXT_STEP)
    if isinstance(profiles[name], Mapping) and "driven_by" in profiles[name]:
        return document.as_(Linear, (name,))
    return document.as_(Components, (name,))


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
