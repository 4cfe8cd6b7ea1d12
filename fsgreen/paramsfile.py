"""What `params.yaml` may say: campaigns that the pipeline analyses, and studies with a ledger."""

from __future__ import annotations

from pathlib import Path

from fsgreen import schema
from fsgreen.schema import Declared, Document


class Shipped(Declared):
    """A campaign: its study, the profile that it was measured under, and where."""

    study: str
    profile: str
    place: str


class Params(Declared):
    """All that the file says."""

    campaigns: dict[str, Shipped]
    studies: tuple[str, ...] = ()


def read(file: Path) -> tuple[Document, Params]:
    """Return the file with its lines, and what it says.

    Raises FsgreenError if it lacks a key or has another.
    """
    document = schema.read(file, "list of campaigns", "docs/pipeline.md tells how to add one")
    return document, document.as_(Params)
