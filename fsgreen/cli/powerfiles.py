"""Sub-commands on files of power: what a meter wrote, and what is recorded without a campaign."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen.cli import command
from fsgreen.errors import FsgreenError

if TYPE_CHECKING:
    from fsgreen.meters import Imported
    from fsgreen.trace import MeterEnergy, MeterInfo

SAME = 1e-6
"""Of rows that are a counter's the sum is its difference, to the digits that are shown."""


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    read = command.add(
        commands,
        "import",
        _import,
        "read a file that a meter wrote: print what was decided, its energy, and its flaws",
        "fsgreen import august.csv --driver hoboware --set gmt_offset=+02:00 --out august.parquet",
    )
    _add_file(read)
    _add_results(read)

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
        help="needs no pulses: NTP or GPS kept the meter's clock within S seconds of the host's",
    )
    attach.add_argument(
        "--max-drift-ppm", type=float, metavar="PPM", help="more means that the clock was set"
    )

    record = command.add(
        commands,
        "record",
        _record,
        "record a meter for some time, without a campaign; `import --driver raw` reads the file",
        "fsgreen record wattsup --set port=/dev/ttyUSB0 --seconds 3600 --raw night.power.raw",
    )
    record.add_argument("meter", help="a driver, or a meter of the testbed file")
    record.add_argument("--testbed", metavar="FILE", help="the file that describes the meter")
    record.add_argument("--seconds", type=float, required=True, metavar="N")
    record.add_argument("--raw", type=Path, required=True, metavar="FILE", help="a new file")
    _add_settings(record)
    _add_results(record)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--driver", help="one of `fsgreen meters` (default: the one that FILE.toml names)"
    )
    _add_settings(parser)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a setting of the driver, such as dates=DMY: fsgreen meters DRIVER",
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    moment = "seconds from the first reading, or a time such as 2026-08-17T13:00:00Z"
    parser.add_argument("--from", dest="begin", metavar="T", help=moment)
    parser.add_argument("--to", dest="end", metavar="T", help=moment)
    parser.add_argument("--out", type=Path, help="a new file of readings: .csv or .parquet")
    parser.add_argument("--picture", type=Path, help="a new picture: .png or .svg")


def _read(options: argparse.Namespace) -> Imported:
    from fsgreen.meters.core import registry
    from fsgreen.meters.files import importing

    told = importing.beside(options.file)
    driver = options.driver or told.pop("driver", None)
    if driver is None:
        raise FsgreenError(
            "no driver is named for this file",
            where=options.file,
            next_step="--driver NAME, one of `fsgreen meters`; for any table: --driver table",
        )
    told.pop("driver", None)
    importer = registry.importer(driver)
    settings = {**told, **importing.options_of(options.settings, importer.settings)}
    return importing.import_file(options.file, importer, settings)


def _import(options: argparse.Namespace) -> None:
    _tell(_read(options), options)


def _tell(imported: Imported, options: argparse.Namespace) -> None:
    """Print what a file says, and write what is asked for; refuse an energy that is none."""
    from fsgreen.meters.files.energies import energy_of, moment, sound_spans, span_of
    from fsgreen.meters.files.importing import write_new, write_readings

    for decision in imported.decisions:
        command.show(f"- {decision}", hang=2)
    span = span_of(imported, *(moment(t, imported) for t in (options.begin, options.end)))
    said = energy_of(imported, span)
    for line in _lines(imported, said):
        command.show(line, hang=4)
    if options.out is not None:
        write_readings(imported, said, options.out)
    if options.picture is not None:
        from fsgreen.figures.power import power_picture, save_as

        write_new(options.picture, lambda file: save_as(power_picture(imported, said, span), file))
    if math.isnan(said.energy_j):
        spans = sound_spans(imported)
        longest = max(spans, key=lambda span: span[1] - span[0], default=None)
        raise FsgreenError(
            "there is no energy: " + "; ".join(flaw.detail for flaw in said.flaws),
            where=imported.info.title,
            next_step=f"take the longest sound part: --from {longest[0]:g} --to {longest[1]:g}"
            if longest
            else "record it again",
        )


def _lines(imported: Imported, said: MeterEnergy) -> list[str]:
    info, readings = imported.info, imported.readings
    span_s = float(readings.time_s[-1] - readings.time_s[0])
    lines = [
        f"{info.title}, boundary {info.boundary}, covers "
        f"{', '.join(info.covers)}; error {100 * info.gain_error:g} % and "
        f"{info.constant_error_w:g} W, steps of {info.resolution_w:g} W ({info.source})",
        f"{len(readings)} readings in {span_s:.1f} s, {len(readings.flags)} of them flagged",
    ]
    if asked := _untold(info):
        settings = " ".join(f"--set {name}=..." for name in asked)
        lines.append(f"the file does not say all about its meter; you may: {settings}")
    if not math.isnan(said.energy_j):
        budget = said.budget
        lines.append(
            f"energy {said.energy_j:.6g} J, within {budget.total_j:.3g} J, in "
            f"{said.duration_s:.6g} s: mean power {said.power_w:.6g} W"
        )
        lines.append(
            f"limits of error: gain {budget.gain_j:.3g} J, constant {budget.constant_j:.3g} J, "
            f"quantisation {budget.quantisation_j:.3g} J, edges {budget.edges_j:.3g} J"
        )
        if budget.total_j >= said.energy_j:
            lines.append("the limits of error reach the energy: it may be zero")
    counted = not math.isnan(said.counter_energy_j)
    if counted and not math.isclose(said.counter_energy_j, said.energy_j, rel_tol=SAME):
        lines.append(f"energy by the meter's own counter {said.counter_energy_j:.6g} J")
    lines += [f"rule {flaw.rule}, {flaw.name}: {flaw.detail}" for flaw in said.flaws]
    return lines


def _untold(info: MeterInfo) -> list[str]:
    """Return the settings that tell what is not known of a meter."""
    from fsgreen.meters.core import registry
    from fsgreen.trace.meter import UNTOLD

    settings = registry.named(info.driver).settings.model_fields
    told = {"model": info.model, "serial": info.serial}
    return [name for name, value in told.items() if value in UNTOLD and name in settings]


def _attach(options: argparse.Namespace) -> None:
    from fsgreen.reduce.attach import attach

    imported = _read(options)
    for decision in imported.decisions:
        command.show(f"- {decision}", hang=2)
    limit = {} if options.max_drift_ppm is None else {"max_drift_ppm": options.max_drift_ppm}
    meter, file = attach(options.campaign, imported, synchronised_s=options.synchronised, **limit)
    fit = meter.clock
    edges = f"its {fit.edges_count} edges are {fit.residual_s:.3f} s off the line"
    if options.synchronised is None:
        print(
            f"the meter's clock is {fit.offset_s:+.3f} s off, within {fit.offset_error_s:.3f} s, "
            f"and drifts by {fit.drift_ppm:+.1f} ppm; {edges}"
        )
    else:
        agrees = f"the load pulses do not contradict that; {edges}"
        print(
            f"the meter's clock is taken to be within {fit.offset_error_s:g} s of the host's, as "
            f"--synchronised says; {agrees if fit.edges_count else 'nothing checked it'}"
        )
    print(file)


def _record(options: argparse.Namespace) -> None:
    from fsgreen.meters.core import registry
    from fsgreen.meters.files import importing
    from fsgreen.meters.raw import import_raw, record

    table: dict[str, Any] = {"name": options.meter, "driver": options.meter}
    if options.testbed is not None:
        from fsgreen.campaign import testbedfile

        described = testbedfile.read(options.testbed).meters or ()
        tables = {each["name"]: dict(each) for each in described}
        if options.meter not in tables:
            raise FsgreenError(
                f"no meter is called {options.meter}",
                where=options.testbed,
                next_step=f"meters here: {', '.join(tables) or 'none'}",
            )
        table = tables[options.meter]
    declared = registry.live_driver(table["driver"]).settings
    table |= importing.options_of(options.settings, declared)
    begun = f"recording for {options.seconds:g} s; Ctrl-C ends it and keeps what came"
    record(table, options.seconds, options.raw, begun=lambda: print(begun, flush=True))
    print(
        f"raw bytes in {options.raw}: read them again by fsgreen import {options.raw} --driver raw"
    )
    _tell(import_raw(options.raw, table["name"]), options)
