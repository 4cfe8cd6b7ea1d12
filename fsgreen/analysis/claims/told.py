"""What a campaign says of each part of a study's claims, kept for the ledger beside others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fsgreen import absence, paths
from fsgreen.analysis.claims.ledger import SIMULATED
from fsgreen.claims import OTHER_STATE
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError
from fsgreen.reduce import (
    in_guest,
    read_csv,
    read_identity,
    read_plan,
    read_table,
    simulated_disk_of,
    write_csv,
)

TEXTS = (
    *("campaign", "profile", "place", "testbed", "slug", "part", "kind", "verdict", "basis"),
    *("detail", "published", "ours", "unit", "side", "boundary"),
)
NUMBERS = (
    *("band_low_x", "band_high_x", "ours_x", "ours_low_x", "ours_high_x"),
    *("n", "degrees_count", "power_p"),
)
"""What a campaign says of each part, beside its texts."""

Told = Mapping[str, pd.DataFrame]
"""What campaigns say of the parts of claims, by their names."""


def tell(campaign: str, *, shipped: bool) -> None:
    """Put what a judged campaign says beside what others of its study do, for their ledger.

    `shipped` means that the pipeline analyses it.
    """
    plan, identity = read_plan(campaign), read_identity(campaign)
    parts, testbed = read_table(campaign, "claim_parts"), identity["testbed"]
    table = as_told(
        parts,
        campaign=campaign,
        profile=plan.profile.name,
        place=_place(plan, identity),
        testbed=testbed["kind"],
    )
    if paths.results(campaign).parent.name != "scratch":
        write_csv(table, paths.told(plan.study, campaign, shipped=shipped))


def as_told(parts: pd.DataFrame, *, testbed: str, **about: str) -> pd.DataFrame:
    """Return the parts of `claim_parts.csv` that have a verdict; of their claims also others.

    `about` are `campaign`, `profile` and `place`; `testbed` is a kind of testbed.
    """
    basis, elsewhere = parts["basis"].fillna(""), parts["verdict"] == OTHER_STATE
    decided = basis.ne("")
    # Without what was not tested of a claim, one that holds in part would look whole.
    beside = parts["slug"].isin(parts.loc[decided, "slug"]) & ~elsewhere
    of_trials = parts["slug"].isin(parts.loc[decided & basis.ne("published"), "slug"])
    trials = "simulated" if testbed in SIMULATED else "measured"
    kind = basis.where(decided, trials).mask(beside & ~of_trials, "published")
    known = parts.assign(kind=kind, testbed=testbed, **about)[decided | beside | elsewhere]
    return with_texts(known, TEXTS)[[*TEXTS, *NUMBERS]]


def with_texts(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return a table whose texts are "" where there is none."""
    texts = {name: table[name].astype(object).where(table[name].notna(), "") for name in names}
    return table.assign(**texts)


def _place(plan: Plan, identity: Mapping[str, Any]) -> str:
    testbed = identity["testbed"]
    kind = testbed["kind"]
    clock = f" by {testbed['clock']}" if in_guest(identity) else ""
    if (model := simulated_disk_of(identity)) is not None:
        disks = sorted({str(cell["disk"]) for cell in plan.cells if "disk" in cell})
        return f"{kind}{clock}: {', '.join(disks) or model}"
    return f"{kind}{clock}, {'in memory' if testbed.get('in_memory') else 'on disk'}"


def told(study: str, *, own: bool) -> dict[str, pd.DataFrame]:
    """Return what the campaigns of a study say that were judged here.

    `own` adds those that the pipeline does not analyse. Raises FsgreenError if another version of
    fsgreen judged one of them.
    """
    files = {
        file.stem: file
        for shipped in ((False, True) if own else (True,))
        for file in paths.told(study, "all", shipped=shipped).parent.glob("*.csv")
        # That of a campaign which params.yaml named once is still there.
        if not shipped or paths.ships(file.stem)
    }
    tables = {name: read_csv(file) for name, file in sorted(files.items())}
    for name, table in tables.items():
        if missing := {*TEXTS, *NUMBERS} - {*table}:
            raise FsgreenError(
                f"the claims of {name} were judged by another version: its table has no "
                f"{', '.join(sorted(missing))}",
                where=files[name],
                next_step=absence.made_anew(name),
            )
    return tables
