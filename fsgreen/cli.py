"""The command `fsgreen`: each sub-command is one call into the library."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from fsgreen import __version__
from fsgreen.errors import FsgreenError

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 refused, 130 interrupted."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except FsgreenError as error:
        print(f"fsgreen: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nfsgreen: stopped; nothing half-written is left.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _doctor(options: argparse.Namespace) -> None:
    from fsgreen import preflight

    findings = preflight.check(folder=options.folder)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(f"{finding.severity:8} {finding.subject:{width}}  {finding.state}")
        if finding.remedy:
            print(f"{'':8} {'':{width}}  -> {finding.remedy}")


def _plan(options: argparse.Namespace) -> None:
    from fsgreen import design

    plan = design.make_plan(design.load_study(options.study), options.profile)
    profile = plan.profile
    shortest_s = len(plan.trials) * (2 * profile.idle_s + profile.warmup_s + profile.measure_s)
    print(f"{plan.study}, profile {profile.name}, plan {plan.hash[:12]}")
    print(f"{len(plan.cells)} cells x {profile.blocks} blocks = {len(plan.trials)} trials")
    print(f"at least {shortest_s / 60:.0f} min, without making files and waiting for idle power")
    for cell in plan.cells:
        print(f"  {cell.label}{'  (baseline)' if cell == plan.baseline else ''}")


def _measure(options: argparse.Namespace) -> None:
    from fsgreen import campaign, pipeline
    from fsgreen.campaign import testbedfile

    place = testbedfile.read(options.testbed).over(
        folder=options.folder, in_memory=options.in_memory
    )
    done = campaign.measure(options.study, options.profile, name=options.name, place=place)
    print(f"{len(done.plan().trials)} trials in {done.folder}")
    pipeline.after_measure(done.name)


def _status(options: argparse.Namespace) -> None:
    from fsgreen import campaign, trial

    found = campaign.Campaign(options.campaign)
    plan, pending = found.plan(), found.pending()
    print(f"{found.name}: {len(plan.trials) - len(pending)} of {len(plan.trials)} trials measured")
    for planned in pending[:5]:
        print(f"  to do   {planned.trial}")
    for invalid in trial.list_invalid(found.folder):
        print(f"  invalid {invalid.folder.name}: {invalid.record['reason']}")


def _latency(options: argparse.Namespace) -> None:
    from fsgreen import stats
    from fsgreen.reduce.single_run import report_profile

    candidate, baseline = map(report_profile, (options.candidate, options.baseline))
    print(f"{'operation':16}{'ops':>12}{'baseline ops':>14}{'EMD':>8}{'shift':>8}")
    for row in stats.compare_profiles(candidate, baseline).itertuples():
        counts = f"{row.candidate_ops:12}{row.baseline_ops:14}"
        print(f"{row.operation:16}{counts}{row.emd_buckets:8.2f}{row.shift_buckets:+8.2f}")
    print("in log2 buckets: 1 is a factor of two, and a shift above 0 is slower than the baseline")
    print("One run each cannot tell a difference from noise; repeat in blocks: fsgreen measure")


def _notebook(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    pipeline.run_notebook(options.notebook, dict(options.parameter))


def _reproduce(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    pipeline.reproduce()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fsgreen",
        description="Which file system and options do most work per joule, and is it true?",
        epilog="example: fsgreen doctor",
    )
    parser.add_argument("--version", action="version", version=f"fsgreen {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    doctor = _command(commands, "doctor", _doctor, "say what this machine can do", "fsgreen doctor")
    doctor.add_argument("--folder", type=Path, help="where images and raw traces would go")

    plan = _command(
        commands, "plan", _plan, "show the trials of a study", "fsgreen plan fast10 --profile quick"
    )
    plan.add_argument("study")
    plan.add_argument("--profile", default="quick")

    measure = _command(
        commands,
        "measure",
        _measure,
        "measure a study on this machine, then analyse it; goes on where it was stopped",
        "fsgreen measure fast10 --profile quick",
    )
    measure.add_argument("study")
    measure.add_argument("--profile", default="quick", help="quick, lab or full (default: quick)")
    measure.add_argument("--name", help="the campaign's name (default: STUDY-PROFILE)")
    measure.add_argument(
        "--testbed", default="auto", help="auto, loop, directory or a testbed file (.toml)"
    )
    measure.add_argument("--folder", type=Path, help="where the image, or the directory, is made")
    measure.add_argument("--in-memory", action="store_true", help="keep the image in RAM")

    status = _command(
        commands, "status", _status, "say how far a campaign is", "fsgreen status fast10-quick"
    )
    status.add_argument("campaign")

    latency = _command(
        commands,
        "latency",
        _latency,
        "say how far the latencies of two runs are apart, for each operation",
        "fsgreen latency ext2.json ext3.json",
    )
    latency.add_argument(
        "candidate", type=Path, help="what fsgreen-wml run --json wrote, of one run"
    )
    latency.add_argument("baseline", type=Path, help="the same of the run to compare with")

    notebook = _command(
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

    _command(
        commands,
        "reproduce",
        _reproduce,
        "run the paper pipeline from the shipped traces",
        "fsgreen reproduce",
    )
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], None],
    summary: str,
    example: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"example: {example}"
    )
    parser.set_defaults(run=run)
    return parser


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
