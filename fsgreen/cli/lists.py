"""The sub-command `list`: what there is to choose from."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from fsgreen.cli import command

Rows = Iterator[tuple[str, str]]


def add(commands: command.Commands) -> None:
    """Add the sub-command of this module."""
    listing = command.add(
        commands,
        "list",
        _list,
        "list studies, campaigns, claims, factors, workloads, file systems, options or meters",
        "fsgreen list workloads",
    )
    listing.add_argument(
        "what", nargs="?", choices=[*WHAT], help="default: all of them except claims"
    )
    listing.add_argument(
        "study", nargs="?", help="for claims: show every claim of this study with its verdict"
    )


def _list(options: argparse.Namespace) -> None:
    if options.study is not None:
        _list_of_study(options.what, options.study)
        return
    every = [what for what in WHAT if what != "claims"]
    for nth, what in enumerate([options.what] if options.what else every):
        if not options.what:
            print("\n" * bool(nth) + what)
        _show(WHAT[what](), indent="" if options.what else "  ")
    if options.what == "claims":
        print("\nkinds of evidence are never added up; a claim counts by its strongest one")
        print("every claim of a study: fsgreen list claims STUDY; one claim: fsgreen claim NAME")


def _list_of_study(what: str, study: str) -> None:
    from fsgreen.errors import FsgreenError

    if what != "claims":
        raise FsgreenError(
            f"only claims are listed by study, not {what}", next_step=f"fsgreen list {what}"
        )
    _show(_claims_of(study))


def _show(rows: Rows, indent: str = "") -> None:
    known = list(rows)
    width = max((len(name) for name, _ in known), default=0)
    for name, meaning in known or [("none", "")]:
        command.show(f"{indent}{name:{width}}  {meaning}", hang=width + 4)


def _studies() -> Rows:
    from fsgreen import design, paths
    from fsgreen.errors import FsgreenError

    for file in sorted((paths.root() / "studies").glob("*.yaml")):
        try:
            study = design.load_study(file.stem)
        except FsgreenError as error:
            yield file.stem, f"not sound: fsgreen plan {file.stem} ({error.what.splitlines()[0]})"
        else:
            yield file.stem, f"{study.title} (profiles: {', '.join(study.profiles)})"


def _campaigns() -> Rows:
    from fsgreen import paths

    folder = paths.data() / "raw"
    for plan in sorted(folder.glob("*/plan.json")):
        trials = plan.parent / "trials"
        count = sum(not entry.name.startswith(".") for entry in trials.glob("*"))
        yield plan.parent.name, f"{count} trials" if trials.is_dir() else "imported runs"


def _claims() -> Rows:
    """Yield of each study how many claims have which verdict, by what that rests on."""
    from fsgreen import evidence, ledger

    for study, count in Counter(claim.study for claim in evidence.every()).items():
        verdicts = ledger.counted(study)
        yield study, f"{count} claims; {verdicts or 'no campaign of it has been judged here'}"


def _claims_of(study: str) -> Rows:
    from fsgreen import evidence, ledger, paths

    paths.study(study)
    verdicts = ledger.verdicts(study)
    for claim in evidence.every():
        if claim.study == study:
            told = f"{verdicts[claim.slug]}: " if verdicts else ""
            yield f"{claim.entry.get('id', '')} {claim.slug}".strip(), told + claim.statement


def _factors() -> Rows:
    from fsgreen.design import factors

    for factor in factors.every():
        levels = f": {', '.join(map(str, factor.levels))}" if factor.levels else ""
        yield factor.name, f"{factor.meaning} ({factor.owner}, {factor.kind}{levels})"


def _workloads() -> Rows:
    from fsgreen import workloads

    for name in (*workloads.names(), *workloads.offered()):
        yield name, workloads.summary(name)


def _file_systems() -> Rows:
    from fsgreen.stacks import filesystems

    for name, usable, why in filesystems.available():
        yield name, "usable" if usable else f"not here: {why}"


def _options() -> Rows:
    from fsgreen.stacks.filesystems import FILE_SYSTEMS

    for name, system in FILE_SYSTEMS.items():
        for option, setting in system.options.items():
            yield f"{name} {option}", setting.meaning


def _meters() -> Rows:
    from fsgreen.meters.core import registry

    for name in registry.names():
        yield name, registry.load(name).summary


WHAT: Mapping[str, Callable[[], Rows]] = {
    "studies": _studies,
    "campaigns": _campaigns,
    "claims": _claims,
    "factors": _factors,
    "workloads": _workloads,
    "file-systems": _file_systems,
    "options": _options,
    "meters": _meters,
}
