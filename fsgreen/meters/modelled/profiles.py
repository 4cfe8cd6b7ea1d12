"""Power profiles: the parameters of a model in a TOML file, each with its source.

A profile is one of two models. `Linear` between idle and peak, after Fan, Weber and Barroso, "Power
provisioning for a warehouse-sized computer" (ISCA 2007, section 3). `Components`: idle power and
what each part adds for what it does.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, Protocol

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.modelled.activity import disk_states
from fsgreen.meters.modelled.terms import BY_NAME, amount, clock_factor

SHIPPED = "fsgreen/meters/modelled/profiles.toml"
SHARES = {"cpu": "cpu_busy_x", "disk": "disk_busy_x"}
MAX_EXPONENT = 3.0
LINEAR_KEYS = ("driven_by", "covers", "idle_w", "peak_w", "source")
COMPONENT_KEYS = (
    "covers",
    "idle_w",
    "terms",
    "disk_rate_b_s",
    "clock_exponent",
    "clock_base_hz",
    "source",
    "fit",
)
TRANSFERS = ("disk_read_w", "disk_write_w")


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


@dataclass(frozen=True)
class Linear:
    """Idle and peak power of one part in watts, and what drives it ("cpu" or "disk")."""

    driven_by: str
    covers: tuple[str, ...]
    idle_w: float
    peak_w: float
    source: str

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


@dataclass(frozen=True)
class Components:
    """Idle power in watts, the parameters of `TERMS`, the disk's rate, the exponent of the clock.

    `sources` are those of single terms; all else has `source`. `disk_rate_b_s` tells transfer from
    seek (see `disk_states`).
    """

    covers: tuple[str, ...]
    idle_w: float
    source: str
    terms: Mapping[str, float]
    sources: Mapping[str, str] = field(default_factory=dict)
    disk_rate_b_s: float = NAN
    clock_exponent: float = 0.0
    clock_base_hz: float = NAN

    @property
    def uses_disk(self) -> bool:
        """Whether it depends on what the disk does."""
        return any(name.startswith("disk_") for name in self.terms)

    def power_w(self, activity: Mapping[str, float]) -> float:
        """Return the mean power over a span, never below zero; what is not readable adds nothing.

        A clock that is not readable counts as the base clock.
        """
        factor = clock_factor(activity["cpu_clock_hz"], self.clock_base_hz, self.clock_exponent)
        done = {**activity, **disk_states(activity, self.disk_rate_b_s)}
        parts = (value * amount(BY_NAME[name], done, factor) for name, value in self.terms.items())
        return max(0.0, self.idle_w + sum(part for part in parts if isfinite(part)))

    def describe(self) -> str:
        """Return the parameters and their sources in one sentence."""
        parts = [f"{self.idle_w:g} W idle"]
        for name, value in self.terms.items():
            unit = "W" if name.endswith("_w") else "J"
            own = f" ({self.sources[name]})" if name in self.sources else ""
            parts.append(f"{value:g} {unit} {BY_NAME[name].per}{own}")
        if isfinite(self.disk_rate_b_s):
            parts.append(f"a disk of {self.disk_rate_b_s / 1e6:g} MB/s")
        if self.clock_exponent:
            base_ghz = self.clock_base_hz / 1e9
            parts.append(f"cores by (clock / {base_ghz:g} GHz)^{self.clock_exponent:g}")
        return f"{', '.join(parts)} ({self.source})"


def load_profile(name: str, file: Path | None = None) -> Profile:
    """Return a profile of a file, by default of those shipped.

    Raises FsgreenError where the file or the profile is not there (naming those that are), where a
    key or a term is unknown, a parameter is not a number from 0 up, or a source is missing.
    """
    profiles = _shipped() if file is None else _read(file)
    where = SHIPPED if file is None else str(file)
    if name not in profiles:
        raise unknown("power profile", name, profiles, where=where)
    return _Table(profiles[name], f"profile {name} in {where}").profile()


@dataclass(frozen=True)
class _Table:
    """One profile as the file has it."""

    values: Any
    where: str

    def profile(self) -> Profile:
        if not isinstance(self.values, dict):
            self._refuse("a profile is a table")
        linear = "driven_by" in self.values
        for key in self.values:
            if key not in (LINEAR_KEYS if linear else COMPONENT_KEYS):
                raise unknown(
                    "profile key",
                    key,
                    LINEAR_KEYS if linear else COMPONENT_KEYS,
                    where=self.where,
                    next_step="docs/meters/model.md shows both kinds of profile",
                )
        return self._linear() if linear else self._components()

    def _linear(self) -> Linear:
        driven_by = self.values["driven_by"]
        if driven_by not in SHARES:
            raise unknown("driver of a profile", driven_by, SHARES, where=self.where)
        return Linear(
            driven_by=driven_by,
            covers=self._covers(),
            idle_w=self._number("idle_w"),
            peak_w=self._number("peak_w"),
            source=self._source(self.values, "the profile"),
        )

    def _components(self) -> Components:
        terms, sources = {}, {}
        declared = self.values.get("terms", {})
        if not isinstance(declared, dict):
            self._refuse("terms is a table")
        for name, value in declared.items():
            if name not in BY_NAME:
                raise unknown("term", name, BY_NAME, where=self.where)
            if isinstance(value, dict):
                sources[name] = self._source(value, name)
                value = value.get("value")
            terms[name] = self._checked(name, value)
        exponent = self._checked("clock_exponent", self.values.get("clock_exponent", 0.0))
        if exponent > MAX_EXPONENT:
            self._refuse(f"clock_exponent is {exponent:g}, above {MAX_EXPONENT:g}")
        base_hz = self._number("clock_base_hz") if exponent else NAN
        if base_hz == 0:
            self._refuse("clock_base_hz is 0")
        splits = any(name in terms for name in TRANSFERS)
        rated = splits or "disk_rate_b_s" in self.values
        rate_b_s = self._number("disk_rate_b_s") if rated else NAN
        if rate_b_s == 0:
            self._refuse("disk_rate_b_s is 0")
        return Components(
            covers=self._covers(),
            idle_w=self._number("idle_w"),
            source=self._source(self.values, "the profile"),
            terms=terms,
            sources=sources,
            disk_rate_b_s=rate_b_s,
            clock_exponent=exponent,
            clock_base_hz=base_hz,
        )

    def _number(self, key: str) -> float:
        return self._checked(key, self.values.get(key))

    def _checked(self, key: str, value: Any) -> float:
        sound = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not sound or not 0 <= value <= sys.float_info.max:
            self._refuse(f"{key} is {value!r}, not a number from 0 up")
        return float(value)

    def _covers(self) -> tuple[str, ...]:
        covers = self.values.get("covers")
        if not isinstance(covers, list) or not all(isinstance(part, str) for part in covers):
            self._refuse(f"covers is {covers!r}, not a list of texts")
        return tuple(covers)

    def _source(self, table: Mapping[str, Any], of: str) -> str:
        source = table.get("source")
        if not isinstance(source, str) or not source.strip():
            self._refuse(f"{of} has no source: a study and section, a data sheet, or a fit")
        return source

    def _refuse(self, what: str) -> NoReturn:
        raise FsgreenError(
            what, where=self.where, next_step="docs/meters/model.md shows both kinds of profile"
        )


@cache
def _shipped() -> dict[str, Any]:
    text = resources.files("fsgreen.meters.modelled").joinpath("profiles.toml").read_text("utf-8")
    return tomllib.loads(text)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise FsgreenError(
            f"the file of power profiles cannot be read: {error.strerror}",
            where=file,
            next_step="fsgreen calibrate writes one; or leave profile_file out for those shipped",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FsgreenError(f"not a file of power profiles: {error}", where=file) from error
