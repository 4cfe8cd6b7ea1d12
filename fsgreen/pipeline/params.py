"""`params.yaml`: the campaigns that the pipeline analyses, and the studies that have a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fsgreen import paramsfile, paths, schema
from fsgreen.errors import unknown
from fsgreen.paramsfile import Params, Shipped
from fsgreen.schema import Fault


def campaigns() -> Mapping[str, Shipped]:
    """Return the campaigns by name.

    Raises FsgreenError if the file lacks a key or has another, or names a study or a profile that
    is none.
    """
    return _declared().campaigns


def studies() -> tuple[str, ...]:
    """Return the studies that have a ledger, with or without a campaign; raises as `campaigns`."""
    return _declared().studies


def _declared() -> Params:
    document, declared = paramsfile.read(paths.root() / "params.yaml")
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
