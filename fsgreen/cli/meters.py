"""Sub-commands on meters: their drivers, the files they write, and models of power."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.cli import command
from fsgreen.errors import FsgreenError

if TYPE_CHECKING:
    from fsgreen.meters import Imported


def add(commands: command.Commands[argparse.ArgumentParser]) -> None:
    """Add the sub-commands of this module."""
    meters = command.add(
        commands,
        "meters",
        _meters,
        "list the drivers of meters, what is plugged in, and what is missing; or one's settings",
        "fsgreen meters wattsup",
    )
    meters.add_argument("driver", nargs="?", help="list the settings of this one")

    read = command.add(
        commands,
        "import",
        _import,
        "read a file that a meter wrote, and say what was decided about it",
        "fsgreen import august.csv --driver hoboware --set dates=DMY --out august.parquet",
    )
    _add_file(read)
    read.add_argument("--out", type=Path, help="where the table of power is written")

    attach = command.add(
        commands,
        "attach",
        _attach,
        "cut the file of a meter with a clock of its own into the trials of a campaign",
        "fsgreen attach fast10-lab august.csv --driver hoboware",
    )
    attach.add_argument("campaign", help="one measured with load pulses")
    _add_file(attach)
    attach.add_argument(
        "--synchronised",
        type=float,
        metavar="S",
        help="NTP or GPS kept the meter's clock within so many seconds of the host's: no pulses",
    )
    attach.add_argument(
        "--max-drift-ppm", type=float, metavar="PPM", help="more is taken for a clock that was set"
    )

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
    calibrate.add_argument("--testbed", required=True, metavar="FILE", help="names the meters")
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


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument("--driver", required=True, help="a driver of kind `file`: fsgreen meters")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a setting of the driver, such as dates=DMY",
    )


def _meters(options: argparse.Namespace) -> None:
    from fsgreen.meters import Importer
    from fsgreen.meters.core import registry
    from fsgreen.meters.core.settings import lines_about

    if options.driver is not None:
        for line in lines_about(registry.named(options.driver).settings):
            print(line)
        return
    names = registry.names()
    width = max(map(len, names))

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
    print("\ndocs/meters.md tells how to wire, configure and check each.")


def _read(options: argparse.Namespace) -> Imported:
    from fsgreen.meters.core import registry
    from fsgreen.meters.files import importing

    settings = importing.options_of(options.settings)
    imported = importing.import_file(options.file, registry.importer(options.driver), settings)
    for decision in imported.decisions:
        print(f"- {decision}")
    return imported


def _import(options: argparse.Namespace) -> None:
    from fsgreen import trace
    from fsgreen.meters import power_table
    from fsgreen.meters.files import importing

    imported = _read(options)
    info, readings = imported.info, imported.readings
    print(f"{info.model}, serial {info.serial}, boundary {info.boundary}")
    table = power_table({info.driver: readings})
    sound = table[table["quality"].isin(trace.REMARKS)]
    duration_s = table["time_s"].max() - table["time_s"].min()
    print(
        f"{len(table)} readings, {len(table) - len(sound)} of them flagged, "
        f"in {duration_s:.1f} s; mean power {sound['power_w'].mean():.6g} W"
    )
    if options.out is not None:
        importing.write_power(imported, info.driver, options.out)


def _attach(options: argparse.Namespace) -> None:
    from fsgreen.reduce.attach import attach

    limit = {} if options.max_drift_ppm is None else {"max_drift_ppm": options.max_drift_ppm}
    meter, file = attach(
        options.campaign, _read(options), synchronised_s=options.synchronised, **limit
    )
    fit = meter.clock
    print(
        f"the meter's clock is {fit.offset_s:+.3f} s off, within {fit.offset_error_s:.3f} s, and "
        f"drifts by {fit.drift_ppm:+.1f} ppm; its {fit.edges_count} edges are "
        f"{fit.residual_s:.3f} s off the line"
        if fit.edges_count
        else f"the meter's clock is taken to be within {fit.offset_error_s:g} s of the host's, as "
        "--synchronised says; nothing checked it"
    )
    print(file)


def _wattsup_memory(options: argparse.Namespace) -> None:
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
        print(f"{every}; when full it {state.when_full}")
        if options.download is not None:
            info, chunks = memory.describe(), memory.download()
            with whole(options.download) as partial:
                with closing(RawWriter(partial, {"wattsup": info})) as raw:
                    for chunk in chunks:
                        raw.store("wattsup", chunk)
                downloaded_count = len(reparse(partial))
            print(f"{downloaded_count} records in {options.download}")
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
        place,
        options.out,
        disk=options.disk,
        minutes=options.minutes,
        campaign=options.campaign,
    )


def _model_error(options: argparse.Namespace) -> None:
    from fsgreen.calibration.model_error import model_error

    print(model_error(options.campaign).to_string(index=False, float_format="{:.3g}".format))
