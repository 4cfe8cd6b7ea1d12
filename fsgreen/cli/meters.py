"""Sub-commands on meters: their drivers, their memory, and models of power."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from fsgreen.cli import command
from fsgreen.errors import FsgreenError


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    meters = command.add(
        commands,
        "meters",
        _meters,
        "list the drivers of meters, what is plugged in and what is missing; or one's settings",
        "fsgreen meters wattsup",
    )
    meters.add_argument("driver", nargs="?", help="list the settings of this driver")

    memory = command.add(
        commands,
        "wattsup-memory",
        _wattsup_memory,
        "look at the memory of a Watts Up, download it, or begin a log in it",
        "fsgreen wattsup-memory /dev/ttyUSB0 --download night.power.raw",
    )
    memory.add_argument("port", help="the serial port, as `fsgreen meters` shows it")
    memory.add_argument("--baud", type=int, default=115200, help="19200 for hardware minor 1")
    memory.add_argument("--download", type=Path, metavar="FILE", help="a new file of raw bytes")
    memory.add_argument(
        "--log-every", type=int, metavar="S", help="begin a log, after the download if there is one"
    )
    memory.add_argument(
        "--erase", action="store_true", help="let the new log clear records that are still there"
    )

    calibrate = command.add(
        commands,
        "calibrate",
        _calibrate,
        "fit a power model of this machine to the meters of a testbed file",
        "fsgreen calibrate --testbed lab.toml --minutes 30 --out server.toml",
    )
    calibrate.add_argument("--testbed", required=True, metavar="FILE", help="it names the meters")
    calibrate.add_argument("--out", type=Path, required=True, help="a new file of power profiles")
    calibrate.add_argument("--minutes", type=float, help="how long it may take")
    calibrate.add_argument(
        "--disk", type=Path, help="a block device, only read, or a folder whose disk is exercised"
    )
    calibrate.add_argument(
        "--campaign", help="measured with the same meters: print the error for each workload"
    )

    model_error = command.add(
        commands,
        "model-error",
        _model_error,
        "predict each workload's power from a model fitted to a campaign's other workloads",
        "fsgreen model-error fast10",
    )
    model_error.add_argument("campaign")


def _meters(options: argparse.Namespace) -> None:
    from fsgreen.meters import Importer
    from fsgreen.meters.core import registry
    from fsgreen.meters.core.settings import lines_about
    from fsgreen.meters.table.driver import recipes

    if options.driver is not None:
        for line in lines_about(registry.named(options.driver).settings):
            print(line)
        return
    names = registry.names()
    programs = {n: each for n, each in recipes().items() if n not in names}
    width = max(map(len, [*names, *programs]))

    def tell(name: str, kind: str, summary: str, notes: Sequence[str] = ()) -> None:
        print(f"{name:{width}}  {kind:8}{summary}")
        for note in notes:
            print(f"{'':{width}}  {'':8}-> " + note.replace("\n", f"\n{'':{width + 13}}"))

    for name in names:
        try:
            driver = registry.load(name)
        except FsgreenError as error:
            tell(name, "broken", error.what, [error.next_step or ""])
            continue
        if isinstance(driver, Importer):
            tell(name, "file", driver.summary)
        else:
            missing = driver.missing()
            notes = driver.find() if missing is None else [f"missing: {missing}"]
            tell(name, driver.kind, driver.summary, notes)
    print("\nTables of programs, read by the driver table:")
    for name, recipe in programs.items():
        tell(name, "file", recipe.summary)
    print("\nA driver or recipe of kind file reads: fsgreen import FILE --driver NAME")
    print("One of another kind is read by: fsgreen record NAME --seconds N --raw FILE")
    print("The settings of a driver, for --set NAME=VALUE: fsgreen meters NAME")
    print("docs/meters.md tells how to wire, configure and check each.")


def _wattsup_memory(options: argparse.Namespace) -> None:
    import time
    from contextlib import closing

    from fsgreen.durable import whole
    from fsgreen.meters.core.rawtrace import RawWriter, reparse
    from fsgreen.meters.wattsup.memory import WattsUpMemory

    if options.download is not None and options.download.exists():
        raise FsgreenError(
            "there is a file already", where=options.download, next_step="name a new file"
        )
    with closing(WattsUpMemory(options.port, baud=options.baud)) as memory:
        state, downloaded_count = memory.state(), 0
        print(f"{memory.model}, serial {memory.serial}")
        every = f"a record every {state.interval_s} s" if state.interval_s else "no fixed interval"
        print(f"{every}, room for {state.capacity_count}; when full it {state.when_full}")
        if options.download is not None:
            info, chunks = memory.describe(), memory.download()
            with whole(options.download) as partial:
                ahead_s = time.time() - time.monotonic()
                with closing(RawWriter(partial, {"wattsup": info}, ahead_s=ahead_s)) as raw:
                    for chunk in chunks:
                        raw.store("wattsup", chunk)
                downloaded_count = len(reparse(partial))
            print(f"{downloaded_count} records in {options.download}")
            print(f"read them: fsgreen import {options.download} --driver raw")
        if options.log_every is not None:
            memory.log_anew(
                options.log_every, downloaded_count=downloaded_count, erase=options.erase
            )
            print(f"logs every {options.log_every} s from now on")


def _calibrate(options: argparse.Namespace) -> None:
    from fsgreen import calibration
    from fsgreen.campaign import testbedfile

    place = testbedfile.read(options.testbed)
    calibration.calibrate(
        place, options.out, disk=options.disk, minutes=options.minutes, campaign=options.campaign
    )


def _model_error(options: argparse.Namespace) -> None:
    from fsgreen.calibration.model_error import model_error

    print(model_error(options.campaign).to_string(index=False, float_format="{:.3g}".format))
