"""Sub-commands on studies: begin one, check it, and plan it."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command
from fsgreen.errors import FsgreenError


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    new = command.add(
        commands, "new", _new, "begin a study of your own: a commented file", "fsgreen new mine"
    )
    new.add_argument("name", nargs="?", help="name of the study: letters, digits, '.', '_' and '-'")
    new.add_argument(
        "--project",
        type=Path,
        metavar="FOLDER",
        help="make a project for the study, or update the dvc.yaml of a project",
    )

    plan = command.add(
        commands,
        "plan",
        _plan,
        "check a study, and show its cells, its blocks, what varies, what does not, and the time",
        "fsgreen plan fast10 --profile quick, or what it can decide: "
        "fsgreen plan fast10 --profile full --assay --pilot fast10-options-disk",
    )
    command.add_study(plan)
    plan.add_argument(
        "--assay",
        action="store_true",
        help="say what the plan can decide, in what time, and what more would cost",
    )
    plan.add_argument(
        "--pilot",
        metavar="CAMPAIGN",
        help="with --assay: a campaign that tells the scatter (default: that of the study with "
        "most of the plan's cells)",
    )


def _new(options: argparse.Namespace) -> None:
    from fsgreen.design import newstudy

    if options.project:
        from fsgreen.pipeline import project

        for file in project.write(options.project, options.name):
            print(file)
        print(f"next: cd {options.project}, where README.md has the commands")
        return
    if not options.name:
        raise FsgreenError("a study needs a name", next_step="fsgreen new mine")
    print(newstudy.write(options.name))
    print(f"next: change it to ask your question, then fsgreen plan {options.name}")


def _plan(options: argparse.Namespace) -> None:
    from fsgreen import design
    from fsgreen.assay.notes import notes
    from fsgreen.campaign import sizes, studycheck
    from fsgreen.design.overview import describe

    file = studycheck.file_of(options.study)
    try:
        study = studycheck.check(file, options.profile)
    except FsgreenError as error:
        raise _together(error, _wrong_claims(file.stem)) from error
    if wrong := _wrong_claims(study.name):
        raise wrong
    plan = design.make_plan(study, options.profile)
    if options.assay or options.pilot:
        from fsgreen import assay

        command.show_indented(assay.lines(study, plan, options.pilot))
        return
    for line in (*describe(plan, study), *sizes.of_files(plan)):
        command.show(line, hang=4)
    for note in notes(study, plan):
        command.show(f"note: {note}", hang=6)


def _wrong_claims(study: str) -> FsgreenError | None:
    """Return what is wrong with the claims that a study of one's own states, None if nothing is."""
    from fsgreen import papers
    from fsgreen.analysis.claims import Claims

    if papers.has_room(study):
        return None  # its room has the functions that they name
    try:
        Claims.of(study)
    except FsgreenError as error:
        return error
    return None


def _together(error: FsgreenError, other: FsgreenError | None) -> FsgreenError:
    """Return two errors of two files as one, so that both are mended at once."""
    if other is None:
        return error
    return FsgreenError(
        f"{error.what}\n  where: {error.where}\nand {other.what}",
        where=other.where,
        next_step=error.next_step,
    )
