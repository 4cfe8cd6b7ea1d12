"""Sub-commands on the machine: what it can do, and its settings: show, apply, restore, and run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from fsgreen.cli import command

if TYPE_CHECKING:
    from fsgreen.host import Outcome, Row


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    doctor = command.add(
        commands, "doctor", _doctor, "say what this machine can measure", "fsgreen doctor"
    )
    doctor.add_argument("--folder", type=Path, help="the folder of the image or directory")

    host = commands.add_parser(
        "host",
        help="settings of the machine that disturb a measurement: show, apply, restore",
        description="Settings of the machine that disturb a measurement; see docs/host.md.",
        epilog="example: fsgreen host show",
    )
    verbs = host.add_subparsers(required=True, metavar="VERB")

    show = command.add(
        verbs,
        "show",
        _show,
        "show each setting, what `apply` would change, and what it cannot change and why",
        "fsgreen host show --disk sda",
    )
    _add_disk(show)

    apply = command.add(
        verbs,
        "apply",
        _apply,
        "change settings until `fsgreen host restore`; needs root",
        "fsgreen host apply governor scheduler=none --disk sda",
    )
    apply.add_argument(
        "settings",
        nargs="*",
        metavar="SETTING[=VALUE]",
        help="default: governor, turbo, timers and swap, as far as they are here",
    )
    _add_disk(apply)

    command.add(
        verbs,
        "restore",
        _restore,
        "restore what `apply`, or a run that was cut short, has changed; needs root",
        "fsgreen host restore",
    )

    run = command.add(
        verbs,
        "run",
        _run,
        "change settings while a command runs; they are restored however it ends",
        "fsgreen host run --apply governor --apply swap -- fsgreen measure fast10 --profile first",
    )
    run.add_argument(
        "--apply",
        action="append",
        default=[],
        metavar="SETTING[=VALUE]",
        dest="settings",
        help="may be given again; default: governor, turbo, timers and swap",
    )
    _add_disk(run)
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")


def _add_disk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--disk",
        action="append",
        default=[],
        metavar="NAME",
        dest="disks",
        help="a whole disk, as sda or /dev/disk/by-id/...; may be given again",
    )


def _doctor(options: argparse.Namespace) -> None:
    from fsgreen import preflight

    findings = preflight.check(folder=options.folder)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        hang = 8 + 1 + width + 2
        command.show(f"{finding.severity:8} {finding.subject:{width}}  {finding.state}", hang=hang)
        if finding.remedy:
            command.show(f"{'':{hang}}-> {finding.remedy}", hang=hang + 3)


def _show(options: argparse.Namespace) -> None:
    from fsgreen import host

    rows = host.look(disks=options.disks)
    _print(rows)
    if any(row.changes for row in rows):
        print()
        command.show(
            "to set a value after ->: fsgreen host apply SETTING, with --disk NAME for a disk"
        )
    for waiting in host.pending():
        print(f"{waiting.sentence}\n  -> fsgreen host restore")


def _print(rows: Sequence[Row], out: TextIO | None = None) -> None:
    for row in rows:
        command.show(f"{row.setting:12}{row.target or '-':24}  {_state(row)}", hang=38, out=out)


def _state(row: Row) -> str:
    now = row.now or "not readable"
    if row.obstacle:
        return f"{now if row.now else 'not here'}: {row.obstacle}"
    if row.wanted is None:
        return f"{now}; applied with {row.setting}=VALUE"
    return f"{now} -> {row.wanted}" if row.changes else f"{now}, as wanted"


def _apply(options: argparse.Namespace) -> None:
    from fsgreen import host

    rows = host.apply(options.settings, disks=options.disks)
    _print(rows)
    if any(row.changes for row in rows):
        print("until: fsgreen host restore")


def _restore(options: argparse.Namespace) -> None:
    from fsgreen import host
    from fsgreen.host.putback import require_done

    outcomes = host.restore()
    for outcome in outcomes:
        print(f"{outcome.setting:12}{outcome.target:24}  {_result(outcome)}")
    if not outcomes:
        print("nothing to put back")
    require_done(outcomes)


def _result(outcome: Outcome) -> str:
    if outcome.detail:
        return f"{outcome.result}: {outcome.detail}"
    return f"{outcome.before}, {outcome.result}"


def _run(options: argparse.Namespace) -> None:
    from fsgreen import host
    from fsgreen.errors import FsgreenError

    asked = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not asked:
        raise FsgreenError(
            "there is no command to run",
            next_step="fsgreen host run -- fsgreen measure fast10 --profile first",
        )
    with host.applied(options.settings, disks=options.disks) as rows:
        _print(rows, sys.stderr)
        status = host.run(asked)
    sys.exit(status)
