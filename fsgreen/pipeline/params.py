"""`params.yaml`: the campaigns that the pipeline analyses, and the studies that have a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

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
    files = [paths.root() / "params.yaml", *sorted((paths.root() / "studies").glob("*.yaml"))]
    return _read(tuple((file, file.read_bytes()) for file in files if file.is_file()))


@lru_cache(maxsize=1)
def _read(files: tuple[tuple[Path, bytes], ...]) -> Params:
    """Return what `params.yaml` says beside these studies. A run asks many times."""
    studies = {file.stem: file for file, _ in files if file.parent.name == "studies"}
    document, declared = paramsfile.read(paths.root() / "params.yaml")
    faults = [
        fault
        for name, entry in declared.campaigns.items()
        for fault in _faults(name, entry, studies)
    ]
    faults += [
        Fault(("studies", nth), unknown("study", study, studies).what)
        for nth, study in enumerate(declared.studies)
        if study not in studies
    ]
    if faults:
        raise document.refusal(faults)
    return declared


def _faults(name: str, entry: Shipped, studies: Mapping[str, Path]) -> Iterator[Fault]:
    if entry.study not in studies:
        yield Fault(("campaigns", name, "study"), unknown("study", entry.study, studies).what)
        return
    profiles = schema.read(studies[entry.study], "study", "mend the study").values["profiles"]
    if entry.profile not in profiles:
        what = unknown("profile", entry.profile, profiles).what
        yield Fault(("campaigns", name, "profile"), what)
