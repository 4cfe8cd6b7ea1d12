"""What this machine can and cannot do, and how to mend it (rule 10 of the statistics)."""

from __future__ import annotations

from pathlib import Path

from fsgreen.audit.tree import HERE, Tree
from fsgreen.preflight import able, clocks, guest, load, power, settings
from fsgreen.preflight.finding import DISTURBING, ORDER, Finding, Severity

__all__ = ["DISTURBING", "Finding", "Severity", "check"]


def check(
    *, folder: Path | None = None, image_b: int = able.IMAGE_B, tree: Tree = HERE
) -> list[Finding]:
    """Return the preflight table, the most severe findings first; takes a second or two.

    It needs no root and changes nothing. Images of `image_b` would go into `folder`, by default
    where the best testbed makes them. `tree` has the files of the kernel.
    """
    findings = [
        *able.check(folder, image_b),
        *guest.check(tree),
        *settings.check(tree),
        *load.check(tree),
        *clocks.check(tree),
        *power.check(tree),
    ]
    return sorted(findings, key=lambda finding: ORDER.index(finding.severity))
