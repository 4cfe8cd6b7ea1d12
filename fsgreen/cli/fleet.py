"""Sub-commands of a fleet: what its members show each other, and the worker of a testbed."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command
from fsgreen.errors import FsgreenError


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    fleet = commands.add_parser(
        "fleet",
        help="measure one study on many testbeds: certificates, worker",
        description="Measure one study on many testbeds; see docs/fleet.md.",
        epilog="example: fsgreen fleet worker fleet.toml --name disk",
    )
    verbs = fleet.add_subparsers(required=True, metavar="VERB")

    certificates = command.add(
        verbs,
        "certificates",
        _certificates,
        "make the certificates of a fleet, to be copied to each of its machines",
        "fsgreen fleet certificates certificates",
    )
    certificates.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder")

    worker = command.add(
        verbs,
        "worker",
        _worker,
        "offer a testbed of this machine to its fleet until Ctrl-C",
        "fsgreen fleet worker fleet.toml --name disk --testbed disk.toml",
    )
    worker.add_argument("file", type=Path, metavar="FILE", help="the fleet file (.toml)")
    worker.add_argument("--name", required=True, help="the testbed's name in the fleet file")
    worker.add_argument(
        "--testbed",
        default="auto",
        help="as for `fsgreen measure`: a kind, or a testbed file (.toml) (default: auto)",
    )


def _certificates(options: argparse.Namespace) -> None:
    from fsgreen.fleet.certificates import make
    from fsgreen.fleet.required import require

    require()
    for file in make(options.folder):
        print(file)
    print("  next:  copy this folder to every machine of the fleet; whoever has it belongs to it")


def _worker(options: argparse.Namespace) -> None:
    import asyncio

    from fsgreen import fleet
    from fsgreen.fleet.required import require

    require()
    from fsgreen.fleet import membership, worker

    membership.begin()
    asyncio.run(worker.serve(fleet.read(options.file), options.name, options.testbed))


def measure_on_fleet(options: argparse.Namespace) -> None:
    """Do what `fsgreen measure --fleet FILE` is asked to."""
    from fsgreen import fleet, gathered, paths, pipeline, trial
    from fsgreen.fleet.together import together

    of_testbed = (options.disk, options.queue_depth, options.folder)
    if options.testbed != "auto" or options.in_memory or any(of_testbed):
        raise FsgreenError(
            "the options of a testbed are those of its worker",
            where="fsgreen measure --fleet",
            next_step="leave out the other options here; on the testbed's machine: "
            "fsgreen fleet worker FILE --name NAME --testbed FILE",
        )
    done = fleet.measure(options.study, options.profile, options.fleet, name=options.name)
    for each in done:
        print(f"{len(trial.list_trials(each.folder))} trials in {each.folder}")
        pipeline.after_measure(each.name)
    whole = options.name or f"{options.study}-{options.profile}"
    if [each.name for each in done] == [whole] or any(paths.ships(each.name) for each in done):
        return  # nothing to pool of one campaign; the pipeline pools those that it analyses
    pooled, files = together(whole, [each.name for each in done])
    command.show_indented(gathered.lines(pooled))
    for file in files:
        print(file)
