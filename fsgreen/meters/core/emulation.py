"""Meters in software (`emulate = true`): a driver that reads an emulator of its meter.

The bytes are those of the real meter; the power is a model's. The record says so: boundary
`modelled`, the model as the source, and a serial number that begins with `emulated` where the meter
tells one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver, EmulatorOf, Meter
from fsgreen.meters.core.settings import MeterSettings, Texts
from fsgreen.meters.modelled import ModelledPower, left_out, load_profile
from fsgreen.simdisk import Control
from fsgreen.trace import MeterInfo, identity_flaws

PROFILE = "fast10-system"


class EmulationSettings(MeterSettings):
    """What is told of an emulated meter, beside that by which its driver measures."""

    boundary: Literal["modelled"] = "modelled"
    covers: Texts | None = None
    """The parts whose power it is; by default those of the profile."""
    profile: str = PROFILE
    """The power model: one of those shipped, or of `profile_file`."""
    profile_file: str = ""
    """A file that fsgreen calibrate wrote."""
    control: str = ""
    """The socket of a simulated disk, whose server's processor time is left out."""


STEP_S = 0.5
"""A model tells the mean power since it was last asked. Asked more often than this, it would see
single ticks of the kernel's clock; within this time an emulator is told the same power again."""


class EmulatedMeter:
    """A meter of `driver` that reads `emulator`. A closed one is opened again with a new emulator.

    Parameters
    ----------
    driver : Driver
        Reads the emulator; its settings are `table` and those of the emulator.
    table : mapping
        The meter's settings, without those by which the emulator is reached.
    make : callable
        Returns an emulator from the power that it is to show and a serial number.
    power_w : callable
        That power in watts. Where it raises FsgreenError, the meter raises the same.
    covers : sequence of str
        The parts whose power it is.
    source : str
        What the power comes from, for the record.
    """

    def __init__(
        self,
        driver: Driver,
        table: Mapping[str, Any],
        make: EmulatorOf,
        power_w: Callable[[], float],
        *,
        covers: Sequence[str],
        source: str,
    ) -> None:
        self._driver = driver
        self._table = table
        self._make = make
        self._power_w = power_w
        self._covers = tuple(covers)
        self._source = source
        self._meter: Meter | None = None
        self._cause: FsgreenError | None = None
        self._info = self._open()

    def describe(self) -> MeterInfo:
        """Return what the meter is: the driver's, with a modelled power."""
        return self._info

    def start(self) -> None:
        """Begin to deliver; an emulator that was closed or failed is started anew."""
        if self._cause is not None:
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
        """Return the next bytes as the driver does."""
        with self._told() as meter:
            return meter.read(timeout_s)

    def stop(self) -> None:
        """Cease to deliver."""
        if self._meter is not None:
            self._meter.stop()

    def close(self) -> None:
        """Close the driver's meter and end the emulator; harmless when repeated."""
        self._meter = None
        self._opened.close()

    def _open(self) -> MeterInfo:
        self._meter = None
        self._cause = None
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

    def _power(self) -> float:
        try:
            return self._power_w()
        except FsgreenError as error:
            self._cause = error
            raise

    @contextmanager
    def _told(self) -> Iterator[Meter]:
        """Give the driver's meter; one that fails is opened anew at the next start."""
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
        """Tell what stopped the power model rather than what followed from it."""
        try:
            yield
        except FsgreenError as error:
            cause = self._cause = self._cause or error
            if cause is error:
                raise
            raise cause from error


class SteppedPower:
    """A power model that is asked at most once in `STEP_S`, from any thread."""

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
    """Return what may be told of an emulated meter of a driver."""
    return type("Emulated", (EmulationSettings, driver.settings), {"__module__": __name__})


def open_emulated(driver: Driver, table: Mapping[str, Any], device_of: DeviceOf) -> Meter:
    """Open an emulated meter, which shows a power model.

    Raises FsgreenError where the driver has no emulator or a setting is wrong.
    """
    own = {key: value for key, value in table.items() if key in EmulationSettings.model_fields}
    settings = EmulationSettings.of(own)
    if driver.emulator is None:
        settings.refuse(f"there is no emulator of {driver.name}: leave emulate out")
    if driver.missing() is not None:
        settings.refuse(f"{driver.name} cannot work here: {driver.missing()}")
    name, file, control = settings.profile, settings.profile_file, settings.control
    profile = load_profile(name, Path(file).expanduser() if file else None)
    sentences = (
        f"power model {name}, {profile.describe()}",
        *left_out(profile),
        *(["without the processor time of the simulated disk's server"] if control else []),
    )
    server = Control(Path(control)).processor_s if control else None
    rest = {key: value for key, value in table.items() if key not in own}
    return EmulatedMeter(
        driver,
        {"name": settings.name, "driver": settings.driver, **rest},
        resolve_name(driver.emulator),
        SteppedPower(ModelledPower(profile, device_of, server)),
        covers=settings.covers or profile.covers,
        source="; ".join(sentences),
    )
