"""Sub-commands that measure or simulate a study, and say how far its campaign is."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command
from fsgreen.cli.fleet import measure_on_fleet
from fsgreen.errors import FsgreenError

CAMPAIGN = "the campaign's name (default: STUDY-PROFILE)"


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    measure = command.add(
        commands,
        "measure",
        _measure,
        "measure a study on this machine, then analyse it; continues where it was stopped",
        "fsgreen measure fast10 --profile first, "
        "or on a simulated disk: "
        "fsgreen measure fast10 --testbed simdisk --disk atlas15k-18wls --name fast10-atlas",
    )
    command.add_study(measure, name=CAMPAIGN)
    measure.add_argument(
        "--testbed",
        default="auto",
        help="auto, loop, directory, simdisk, vm, or a testbed file (.toml); block needs a file",
    )
    measure.add_argument(
        "--disk",
        help="on simdisk: a name that `fsgreen-simdisk disks` lists, or a file of parameters",
    )
    measure.add_argument(
        "--queue-depth", type=int, help="on simdisk and block: commands that the disk takes at once"
    )
    measure.add_argument(
        "--folder",
        type=Path,
        help="where the image is made (default: /var/tmp), the directory (default: the folder for "
        "temporary files, /var/tmp where that is in RAM) or the data of the simulated disk "
        "(default: /dev/shm)",
    )
    measure.add_argument("--in-memory", action="store_true", help="keep the image in RAM")
    measure.add_argument(
        "--fleet",
        type=Path,
        metavar="FILE",
        help="measure on every testbed of a fleet file (.toml), as its worker is set up",
    )

    simulate = command.add(
        commands,
        "simulate",
        _simulate,
        "run in virtual time, beside a campaign: readers on simulated disks, greenfs08's days, or "
        "sun14's drives",
        "fsgreen simulate nfstricks03 --profile full --name nfstricks03, or: "
        "fsgreen simulate greenfs08",
    )
    command.add_study(simulate, name=CAMPAIGN)

    virtual = command.add(
        commands,
        "virtual",
        _virtual,
        "run a study in a guest in virtual time: the cost of software, the same on every machine",
        "fsgreen virtual mine --profile quick --block 1",
    )
    command.add_study(virtual, name="a folder in data/results (default: STUDY-PROFILE-virtual)")
    virtual.add_argument("--block", type=int, default=1, help="a block of the plan (default: 1)")

    status = command.add(
        commands,
        "status",
        _status,
        "show the progress of a campaign, what more blocks would bring, and what does not count",
        "fsgreen status fast10-first",
    )
    status.add_argument("campaign", nargs="?", help="default: the one that measured last")


def _measure(options: argparse.Namespace) -> None:
    from fsgreen import campaign, paths, pipeline, trial
    from fsgreen.campaign import studycheck, testbedfile

    studycheck.check(paths.study(options.study), options.profile)
    if options.fleet is not None:
        measure_on_fleet(options)
        return
    place = testbedfile.read(options.testbed).over(
        folder=options.folder,
        in_memory=options.in_memory,
        disk=options.disk,
        queue_depth=options.queue_depth,
    )
    name = options.name or f"{options.study}-{options.profile}"
    folder = campaign.Campaign(name).folder
    try:
        campaign.measure(options.study, options.profile, name=name, place=place)
    except campaign.NotAll:
        if trial.list_trials(folder):
            pipeline.after_measure(name)
        raise
    print(f"{len(trial.list_trials(folder))} trials in {folder}")
    pipeline.after_measure(name)


def _simulate(options: argparse.Namespace) -> None:
    from fsgreen.papers.simulators import simulator

    print(simulator(options.study).simulate(options.study, options.profile, options.name))


def _virtual(options: argparse.Namespace) -> None:
    from fsgreen.campaign import virtual

    name = options.name or f"{options.study}-{options.profile}-virtual"
    written = virtual.run(options.study, options.profile, options.block)
    file = virtual.file_of(name, options.block)
    virtual.keep(written, file)
    rows = virtual.rows(written)
    width = max(len(row["trial"]) for row in rows)
    print(f"{'trial':{width}}{'work_ops':>12}{'virtual_ns_per_op':>20}")
    for row in rows:
        told = row.get("error")
        if told is None:
            each_ns = 1e9 * row["virtual_s"] / max(1, row["work_ops"])
            told = f"{row['work_ops']:12}{each_ns:20.0f}"
        print(f"{row['trial']:{width}}{told}")
    print(f"{file}: virtual time of an emulated processor, not seconds of this machine")
    if failed := [row["trial"] for row in rows if "error" in row]:
        raise FsgreenError(
            f"{len(failed)} of {len(rows)} trials failed in the guest: {', '.join(failed[:5])}",
            where=file,
            next_step="a smaller scale or a larger image_mib in the profile; docs/vm.md",
        )


def _status(options: argparse.Namespace) -> None:
    from fsgreen import campaign, fleet

    name = options.campaign or campaign.newest()
    is_fleet = fleet.is_of_fleet(name)
    lines = fleet.status(name) if is_fleet else campaign.status(campaign.Campaign(name))
    for line in lines:
        command.show(line, hang=12)
