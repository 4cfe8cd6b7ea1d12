"""Sub-commands that send results to others, and gather those of other machines."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    export = command.add(
        commands,
        "export",
        _export,
        "write the results of a campaign to a file for others, without names of hosts or people",
        "fsgreen export fast10-options, then read it: less fast10-campaign.results.json",
    )
    export.add_argument("campaign", help="one of `fsgreen list campaigns` that is analysed")
    export.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="a new file (default: STUDY-PROFILE.results.json, here)",
    )

    gather = command.add(
        commands,
        "gather",
        _gather,
        "compare results of several machines: each, their mean, and a forecast of the next",
        "fsgreen gather mine.json theirs.json --out mine-and-theirs",
    )
    gather.add_argument("files", nargs="+", type=Path, metavar="FILE", help="as export wrote them")
    gather.add_argument(
        "--metric", action="append", default=[], help="only this one; may be repeated"
    )
    gather.add_argument(
        "--out", type=Path, metavar="FOLDER", help="a new folder of tables and forest plots"
    )


def _export(options: argparse.Namespace) -> None:
    from fsgreen import gathered

    done = gathered.write(options.campaign, options.out)
    results = done.results
    command.show(gathered.about(results), hang=2)
    rules = ", ".join(map(str, results.rules_fired)) or "none"
    print(
        f"the file has {len(results.cells)} cells, {len(results.effects)} comparisons, "
        f"the rules that fired ({rules})"
    )
    command.show(f"words of the study go as they are: {', '.join(done.words)}", hang=2)
    print("left out, like everything that the library does not list:")
    for what in done.left_out:
        command.show(f"  {what}", hang=4)
    print(f"{done.file}: {done.file.stat().st_size / 1000:.0f} kB; nothing was sent")
    print(f"  next:  read it before you send it: less {done.file}")


def _gather(options: argparse.Namespace) -> None:
    from fsgreen import gathered

    results = gathered.gather(options.files, options.metric)
    command.show_indented(gathered.lines(results))
    if options.out is not None:
        for file in gathered.keep(results, options.out):
            print(file)
