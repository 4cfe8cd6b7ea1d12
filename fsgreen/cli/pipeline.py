"""Sub-commands from raw traces to results: pack, parse again, run a notebook or all of them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fsgreen.cli import command
from fsgreen.errors import FsgreenError


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    reproduce = command.add(
        commands,
        "reproduce",
        _reproduce,
        "run the paper pipeline from the shipped traces, and sum up the result in ten lines",
        "fsgreen reproduce, or one campaign alone: fsgreen reproduce fast10-disk",
    )
    reproduce.add_argument("campaign", nargs="?", help="one that ships (default: all of them)")
    reproduce.add_argument(
        "--jobs", type=_count, metavar="N", help="cores to use here (default: all)"
    )
    reproduce.add_argument(
        "--cluster", metavar="HOST:PORT", help="the address here at which others lend cores"
    )
    _add_certificates(reproduce)

    lend = command.add(
        commands,
        "lend",
        _lend,
        "lend cores of this machine to `fsgreen reproduce --cluster` until it ends",
        "fsgreen lend 192.0.2.7:8787 --jobs 4 --certificates certificates",
    )
    lend.add_argument("address", metavar="HOST:PORT", help="the address of --cluster")
    lend.add_argument("--jobs", type=_count, metavar="N", help="cores to lend (default: all)")
    _add_certificates(lend)

    outcome = command.add(
        commands,
        "outcome",
        _outcome,
        "show rates, verdicts, rules that fired, and what to change, of one campaign or of all",
        "fsgreen outcome fast10-options",
    )
    outcome.add_argument("campaign", nargs="?", help="default: all that ship, and their studies")

    notebook = command.add(
        commands,
        "notebook",
        _notebook,
        "run one notebook",
        "fsgreen notebook 60_analyse -p campaign fast10-quick",
    )
    notebook.add_argument("notebook")
    notebook.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE")
    )

    pack = command.add(
        commands,
        "pack",
        _pack,
        "pack the raw traces of a campaign into one file, to keep or to send",
        "fsgreen pack mine-quick",
    )
    pack.add_argument("campaign")

    unpack = command.add(
        commands,
        "unpack",
        _unpack,
        "unpack the raw traces of a campaign from data/packed/CAMPAIGN.tar.xz",
        "fsgreen unpack mine-quick",
    )
    unpack.add_argument("campaign")

    reparse = command.add(
        commands,
        "reparse",
        _reparse,
        "parse the raw power traces of a campaign again, and say what changes",
        "fsgreen reparse fast10",
    )
    reparse.add_argument("campaign")
    reparse.add_argument("--into", type=Path, help="a folder for the new tables of power")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def _add_certificates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--certificates",
        type=Path,
        metavar="FOLDER",
        help="the folder of `fsgreen fleet certificates`, which other machines must show, too",
    )


def _reproduce(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    if options.certificates is not None and options.cluster is None:
        raise FsgreenError(
            "certificates have no use here: no cores are lent",
            where="fsgreen reproduce --certificates",
            next_step="leave it out, or give the address for lent cores: --cluster HOST:PORT",
        )
    cluster = None
    if options.cluster is not None:
        from fsgreen.cluster import Borrowed, at

        cluster = Borrowed(at(options.cluster, options.certificates))
    pipeline.reproduce(options.campaign, jobs=options.jobs, cluster=cluster)


def _lend(options: argparse.Namespace) -> None:
    import asyncio

    from fsgreen import cluster

    place = cluster.at(options.address, options.certificates)
    from fsgreen.cluster.lending import lend
    from fsgreen.fleet import membership

    membership.begin()
    asyncio.run(lend(place, options.jobs or len(os.sched_getaffinity(0))))


def _outcome(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    print("\n\n".join(pipeline.outcomes(options.campaign)))


def _notebook(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    pipeline.run_notebook(options.notebook, dict(options.parameter))


def _pack(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    print(pipeline.pack(options.campaign))


def _unpack(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    print(pipeline.unpack(options.campaign))


def _reparse(options: argparse.Namespace) -> None:
    from fsgreen.reduce.reparse import reparse_campaign

    count = 0
    for trial in reparse_campaign(options.campaign, options.into):
        count += 1
        if not trial.equal or trial.torn_b:
            print(
                f"{trial.trial}: {trial.different_count} of {trial.readings_count} readings "
                f"differ, by {trial.largest_w:.6g} W at most; {trial.torn_b} bytes torn off"
            )
    print(f"{count} trials parsed again; those that are not named did not change")
