"""Sub-commands on meters and their traces."""

from __future__ import annotations

import argparse

from fsgreen.cli import command


def add(commands: command.Commands[argparse.ArgumentParser]) -> None:
    """Add the sub-commands of this module."""
    command.add(
        commands,
        "meters",
        _meters,
        "list the drivers of meters, what is plugged in, and what is missing",
        "fsgreen meters",
    )


def _meters(options: argparse.Namespace) -> None:
    from fsgreen.meters import DRIVERS, IMPORTERS

    width = max(map(len, [*DRIVERS, *IMPORTERS]))
    for driver in DRIVERS.values():
        print(f"{driver.name:{width}}  {driver.kind:8}{driver.summary}")
        missing = driver.missing()
        for line in driver.find() if missing is None else [f"missing: {missing}"]:
            print(f"{'':{width}}  {'':8}-> {line}")
    for importer in IMPORTERS.values():
        print(f"{importer.name:{width}}  {'file':8}{importer.summary}")
    print("\ndocs/meters.md tells how to wire, configure and check each.")
