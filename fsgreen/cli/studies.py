"""Sub-commands on studies, campaigns and what comes of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command
from fsgreen.errors import FsgreenError

CAMPAIGN = "the campaign's name (default: STUDY-PROFILE)"


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    doctor = command.add(
        commands, "doctor", _doctor, "say what this machine can do", "fsgreen doctor"
    )
    doctor.add_argument("--folder", type=Path, help="where the image, or the directory, would be")

    new = command.add(
        commands, "new", _new, "begin a study of your own: a commented file", "fsgreen new mine"
    )
    new.add_argument("name", nargs="?", help="of the study: letters, digits, '.', '_' and '-'")
    new.add_argument(
        "--project",
        type=Path,
        metavar="FOLDER",
        help="make a project of its own for it, or bring the dvc.yaml of one up to this fsgreen",
    )

    plan = command.add(
        commands,
        "plan",
        _plan,
        "check a study, and show its cells, blocks, what varies, what does not, and the time",
        "fsgreen plan fast10 --profile quick, or what it can decide: "
        "fsgreen plan fast10 --profile full --assay --pilot fast10-options-disk",
    )
    _add_study(plan)
    plan.add_argument(
        "--assay",
        action="store_true",
        help="say what it can decide before it is measured, in what time, and how to buy more",
    )
    plan.add_argument(
        "--pilot",
        metavar="CAMPAIGN",
        help="with --assay: whose trials scatter as these will (default: that of the study with "
        "most of these cells)",
    )

    measure = command.add(
        commands,
        "measure",
        _measure,
        "measure a study on this machine, then analyse it; goes on where it was stopped",
        "fsgreen measure fast10 --profile quick, "
        "or on a simulated disk: "
        "fsgreen measure fast10 --testbed simdisk --disk atlas15k-18wls --name fast10-atlas",
    )
    _add_study(measure, name=CAMPAIGN)
    measure.add_argument(
        "--testbed",
        default="auto",
        help="auto, loop, directory, simdisk, vm or a testbed file (.toml), which block needs",
    )
    measure.add_argument(
        "--disk",
        help="on simdisk: one of those that `fsgreen-simdisk disks` lists, or a file like theirs",
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

    simulate = command.add(
        commands,
        "simulate",
        _simulate,
        "run the readers of a study on its simulated disks in virtual time, beside a campaign",
        "fsgreen simulate nfstricks03 --profile full --name nfstricks03",
    )
    _add_study(simulate, name=CAMPAIGN)

    virtual = command.add(
        commands,
        "virtual",
        _virtual,
        "run a study in a guest in virtual time: the cost of software, the same on every machine",
        "fsgreen virtual mine --profile quick --block 1",
    )
    _add_study(virtual, name="of a folder in data/results (default: STUDY-PROFILE-virtual)")
    virtual.add_argument("--block", type=int, default=1, help="of the plan (default: 1)")

    status = command.add(
        commands,
        "status",
        _status,
        "say how far a campaign is, what more blocks would bring, and what does not count",
        "fsgreen status fast10-quick",
    )
    status.add_argument("campaign", nargs="?", help="the one that measured last by default")

    reparse = command.add(
        commands,
        "reparse",
        _reparse,
        "parse the raw power traces of a campaign again, and say what changes",
        "fsgreen reparse fast10",
    )
    reparse.add_argument("campaign")
    reparse.add_argument("--into", type=Path, help="a folder for the new tables of power")

    latency = command.add(
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
        "put the raw traces of a campaign in place, out of data/packed/CAMPAIGN.tar.xz",
        "fsgreen unpack mine-quick",
    )
    unpack.add_argument("campaign")

    reproduce = command.add(
        commands,
        "reproduce",
        _reproduce,
        "run the paper pipeline from the shipped traces, and say in ten lines what came of it",
        "fsgreen reproduce, or one campaign alone: fsgreen reproduce fast10-disk",
    )
    reproduce.add_argument("campaign", nargs="?", help="one that ships; all of them by default")

    outcome = command.add(
        commands,
        "outcome",
        _outcome,
        "say of a campaign, or of all: verdicts by evidence, rules that fired, and what to change",
        "fsgreen outcome fast10-options",
    )
    outcome.add_argument("campaign", nargs="?", help="all that ship, and their studies, by default")


def _add_study(parser: argparse.ArgumentParser, *, name: str | None = None) -> None:
    """Add a study and its profile; `name` says what --name is of, where there is that."""
    text = "one of `fsgreen list studies`"
    parser.add_argument("study", help=text if name else f"{text}, or the path of a file (.yaml)")
    parser.add_argument("--profile", default="quick", help="one of the study's (default: quick)")
    if name:
        parser.add_argument("--name", help=name)


def _doctor(options: argparse.Namespace) -> None:
    from fsgreen import preflight

    findings = preflight.check(folder=options.folder)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        hang = 8 + 1 + width + 2
        command.show(f"{finding.severity:8} {finding.subject:{width}}  {finding.state}", hang=hang)
        if finding.remedy:
            command.show(f"{'':{hang}}-> {finding.remedy}", hang=hang + 3)


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
    print(f"next: change it to what you want to know, then fsgreen plan {options.name}")


def _plan(options: argparse.Namespace) -> None:
    from fsgreen import design
    from fsgreen.campaign import studycheck
    from fsgreen.design.overview import describe
    from fsgreen.rules.subsets import without_reason

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

        for line in assay.lines(study, plan, options.pilot):
            command.show(line, hang=len(line) - len(line.lstrip()) + 4)
        return
    for line in describe(plan):
        command.show(line, hang=4)
    notes = [
        studycheck.too_short(study, options.profile),
        studycheck.too_large(study, options.profile),
        *(f"no exclusion speaks of {left} (rule 6)" for left in without_reason(plan, study)),
    ]
    for note in filter(None, notes):
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


def _measure(options: argparse.Namespace) -> None:
    from fsgreen import campaign, paths, pipeline, trial
    from fsgreen.campaign import studycheck, testbedfile

    studycheck.check(paths.study(options.study), options.profile)
    place = testbedfile.read(options.testbed).over(
        folder=options.folder,
        in_memory=options.in_memory,
        disk=options.disk,
        queue_depth=options.queue_depth,
    )
    done = campaign.measure(options.study, options.profile, name=options.name, place=place)
    print(f"{len(trial.list_trials(done.folder))} trials in {done.folder}")
    pipeline.after_measure(done.name)


def _simulate(options: argparse.Namespace) -> None:
    from fsgreen import papers

    print(papers.simulator().simulate(options.study, options.profile, options.name))


def _virtual(options: argparse.Namespace) -> None:
    from fsgreen import paths
    from fsgreen.campaign import virtual

    name = options.name or f"{options.study}-{options.profile}-virtual"
    written = virtual.run(options.study, options.profile, options.block)
    file = paths.results(name) / f"block{options.block}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(written)
    rows = virtual.rows(written)
    width = max(len(row["trial"]) for row in rows)
    print(f"{'trial':{width}}{'work_ops':>12}{'virtual_ns_per_op':>20}")
    for row in rows:
        found = row.get("error") or f"{row['work_ops']:12}{row['virtual_ns_per_op']:20.0f}"
        print(f"{row['trial']:{width}}{found}")
    print(f"{file}: instructions of an emulated processor, not seconds of this machine")
    if failed := [row["trial"] for row in rows if "error" in row]:
        raise FsgreenError(
            f"{len(failed)} of {len(rows)} trials failed in the guest: {', '.join(failed[:5])}",
            where=file,
            next_step="a smaller scale or a larger image_mib in the profile; docs/vm.md",
        )


def _status(options: argparse.Namespace) -> None:
    from fsgreen import campaign

    name = options.campaign or campaign.newest()
    for line in campaign.status(campaign.Campaign(name)):
        command.show(line, hang=12)


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
    print(f"{count} trials parsed again; those not named are as they were")


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


def _pack(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    print(pipeline.pack(options.campaign))


def _unpack(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    print(pipeline.unpack(options.campaign))


def _reproduce(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    pipeline.reproduce(options.campaign)


def _outcome(options: argparse.Namespace) -> None:
    from fsgreen import pipeline

    print("\n\n".join(pipeline.outcomes(options.campaign)))
