"""Meters in software (`emulate = true`): a driver that reads an emulator of its meter.

The bytes have the form of the real meter's, and the power comes from a model. The record says so:
the boundary is `modelled`, the source is the model, and the serial number, if the meter has one,
begins with `emulated`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver, Emulator, Meter
from fsgreen.meters.core.settings import MeterSettings, Texts
from fsgreen.meters.modelled import ModelledPower, left_out, load_profile
from fsgreen.simdisk import Control
from fsgreen.simdisk.power import power_since
from fsgreen.trace import MeterInfo, identity_flaws

PROFILE = "fast10-system"
DISK_PROFILE = "simdisk"
"""The profile of the simulated disk itself, which a file of profiles may use for another."""


class EmulationSettings(MeterSettings):
    """The settings of an emulated meter, besides those of its driver."""

    boundary: Literal["modelled"] = "modelled"
    covers: Texts | None = None
    """The parts that draw the power; by default those of the profile."""
    profile: str = PROFILE
    """The name of the power model, which is shipped or in `profile_file`; `simdisk` is the power of
    the simulated disk itself."""
    profile_file: str = ""
    """A file that fsgreen calibrate wrote."""
    control: str = ""
    """The socket of a simulated disk, which the testbed knows. Of a model of the machine, the
    processor time of its server is left out."""


STEP_S = 0.5
"""Least time between calls of a model, which returns the mean power since the last call. With
shorter times, it would see single ticks of the kernel's clock. Until then, an emulator gets the
same power again."""


class EmulatedMeter:
    """A meter of `driver` that reads an emulator. If it was closed, it starts a new emulator.

    Its settings are `table` and those of the emulator that `make` makes. `power` is called as
    `make` takes it; if its last call raised FsgreenError, a meter
    that fails raises the same error. `covers` are the
    parts whose power it is, `source` says for the record where it comes from.
    """

    def __init__(
        self,
        driver: Driver,
        table: Mapping[str, Any],
        make: Callable[[Callable[..., Any], str], Emulator],
        power: Callable[..., Any],
        *,
        covers: Sequence[str],
        source: str,
    ) -> None:
        self._driver = driver
        self._table = table
        self._make = make
        self._ask = power
        self._covers = tuple(covers)
        self._source = source
        self._meter: Meter | None = None
        self._refusal: FsgreenError | None = None
        self._failed = False
        self._info = self._open()

    def describe(self) -> MeterInfo:
        """Return the driver's description of the meter, with the boundary `modelled`."""
        return self._info

    def start(self) -> None:
        """Begin to deliver bytes. An emulator that was closed or has failed is started again."""
        if self._failed:
            self.close()
        if self._meter is None and identity_flaws(self._info, self._open()):
            self.close()
            raise FsgreenError(
                "the emulated meter is not the same as before",
                where=self._info.serial,
                next_step="begin a new campaign",
            )
        with self._told() as meter:
            meter.start()

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes from the driver."""
        with self._told() as meter:
            return meter.read(timeout_s)

    def stop(self) -> None:
        """Stop delivering bytes."""
        if self._meter is not None:
            self._meter.stop()

    def close(self) -> None:
        """Close the driver's meter and end the emulator. It may be repeated."""
        self._meter = None
        self._opened.close()

    def _open(self) -> MeterInfo:
        self._meter = None
        self._refusal, self._failed = None, False
        serial = f"emulated-{self._table['name']}"
        with ExitStack() as opened:
            self.emulator = opened.enter_context(self._make(self._power, serial))
            with self._telling():
                settings = self._driver.settings.of(self._completed(self.emulator.reached_by))
                self._meter = self._driver.open(settings, lambda: None)
            opened.callback(self._meter.close)
            self._opened = opened.pop_all()
        info = self._meter.describe()
        return replace(
            info,
            boundary="modelled",
            covers=self._covers,
            source=f"{self._source}; read as by: {info.source}",
        )

    def _completed(self, reached_by: Mapping[str, Any]) -> Mapping[str, Any]:
        if twice := sorted(self._table.keys() & reached_by.keys()):
            raise FsgreenError(
                f"{', '.join(twice)} may not be given to an emulated meter",
                where=f"meter {self._table['name']}",
                next_step="leave it out",
            )
        return {**self._table, **reached_by}

    def _power(self, *since_ns: int | None) -> Any:
        try:
            power = self._ask(*since_ns)
        except FsgreenError as error:
            self._refusal, self._failed = error, True
            raise
        self._refusal = None
        return power

    @contextmanager
    def _told(self) -> Iterator[Meter]:
        """Yield the driver's meter. If it fails, the next start opens it again."""
        if self._meter is None:
            raise FsgreenError(
                "the emulated meter is closed",
                where=self._info.serial,
                next_step="start it before reading",
            )
        with self._telling():
            yield self._meter

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raise the error of a model that gives no power, in place of what follows from it."""
        try:
            yield
        except FsgreenError as error:
            self._failed, refusal = True, self._refusal
            if refusal is None or refusal is error:
                raise
            raise refusal from error


class SteppedPower:
    """A power model that is called at most once per `STEP_S`, from any thread."""

    def __init__(self, power_w: Callable[[], float]) -> None:
        self._ask = power_w
        self._lock = threading.Lock()
        self._asked_s = float("-inf")
        self._power_w = float("nan")

    def __call__(self) -> float:
        """Return the mean power of the last step in watts."""
        with self._lock:
            if time.monotonic() - self._asked_s >= STEP_S:
                self._power_w = self._ask()
                self._asked_s = time.monotonic()
            return self._power_w


def declared(driver: Driver) -> type[EmulationSettings]:
    """Return the settings class of an emulated meter of a driver."""
    return type("Emulated", (EmulationSettings, driver.settings), {"__module__": __name__})


def open_emulated(driver: Driver, table: Mapping[str, Any], device_of: DeviceOf) -> Meter:
    """Open an emulated meter, whose power is that of a model or of a simulated disk.

    Raises FsgreenError if the driver has no emulator, if there is no simulated disk, or if a
    setting is wrong.
    """
    own = {key: value for key, value in table.items() if key in EmulationSettings.model_fields}
    settings = EmulationSettings.of(own)
    if driver.emulator is None:
        settings.refuse(f"there is no emulator of {driver.name}: leave emulate out")
    if driver.missing() is not None:
        settings.refuse(f"{driver.name} cannot work here: {driver.missing()}")
    rest = {key: value for key, value in table.items() if key not in own}
    table = {"name": settings.name, "driver": settings.driver, **rest}
    name, file, control = settings.profile, settings.profile_file, settings.control
    if name == DISK_PROFILE and not file:
        return _showing_disk(driver, table, settings)
    profile = load_profile(name, Path(file).expanduser() if file else None)
    sentences = (
        f"power model {name}, {profile.describe()}",
        *left_out(profile),
        *(["without the processor time of the simulated disk's server"] if control else []),
    )
    server = Control(Path(control)).processor_s if control else None
    return EmulatedMeter(
        driver,
        table,
        resolve_name(driver.emulator),
        SteppedPower(ModelledPower(profile, device_of, server)),
        covers=settings.covers or profile.covers,
        source="; ".join(sentences),
    )


def _showing_disk(driver: Driver, table: Mapping[str, Any], settings: EmulationSettings) -> Meter:
    if driver.disk_emulator is None:
        settings.refuse(f"{driver.name} cannot show a simulated disk: blocks can")
    if not settings.control:
        settings.refuse("there is no simulated disk: it needs --testbed simdisk")
    return EmulatedMeter(
        driver,
        table,
        resolve_name(driver.disk_emulator),
        partial(power_since, Control(Path(settings.control))),
        covers=settings.covers or ("disk",),
        source="the simulated disk's own power; what that is worth, its profile's sources say",
    )
