"""`params.yaml`: the campaigns that the pipeline analyses, and the studies that have a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fsgreen import paths, schema
from fsgreen.errors import unknown
from fsgreen.schema import Declared, Fault


class Shipped(Declared):
    """A campaign: its study, the profile that it was measured under, and where."""

    study: str
    profile: str
    place: str


class Params(Declared):
    """All that the file says."""

    campaigns: dict[str, Shipped]
    studies: tuple[str, ...] = ()


def campaigns() -> Mapping[str, Shipped]:
    """Return the campaigns by name.

    Raises
    ------
    FsgreenError
        If the file lacks a key or has another, or names a study or a profile that is none.
    """
    return _declared().campaigns


def studies() -> tuple[str, ...]:
    """Return the studies that have a ledger, with or without a campaign; raises as `campaigns`."""
    return _declared().studies


def _declared() -> Params:
    document = schema.read(
        paths.root() / "params.yaml", "list of campaigns", "docs/pipeline.md tells how to add one"
    )
    declared = document.as_(Params)
    faults = [fault for name, entry in declared.campaigns.items() for fault in _faults(name, entry)]
    known = {file.stem for file in (paths.root() / "studies").glob("*.yaml")}
    faults += [
        Fault(("studies", nth), unknown("study", study, known).what)
        for nth, study in enumerate(declared.studies)
        if study not in known
    ]
    if faults:
        raise document.refusal(faults)
    return declared


def _faults(name: str, entry: Shipped) -> Iterator[Fault]:
    files = {file.stem: file for file in (paths.root() / "studies").glob("*.yaml")}
    if entry.study not in files:
        yield Fault(("campaigns", name, "study"), unknown("study", entry.study, files).what)
        return
    profiles = schema.read(files[entry.study], "study", "mend the study").values["profiles"]
    if entry.profile not in profiles:
        what = unknown("profile", entry.profile, profiles).what
        yield Fault(("campaigns", name, "profile"), what)
