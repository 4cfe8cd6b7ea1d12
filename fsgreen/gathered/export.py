"""What of a campaign goes into the file that a person sends in: what is listed here, and no more.

Names of hosts and people, serial numbers, paths and addresses stand in records of many kinds, and
nobody can list them all. So nothing is struck out: each value that goes along is a number, a word
that is known here, a word of the study itself, or a digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fsgreen import __version__, paths, rules
from fsgreen.errors import FsgreenError
from fsgreen.gathered import records, rows
from fsgreen.gathered.document import Results
from fsgreen.meters.files.importing import write_new
from fsgreen.reduce import is_imported, of_this_version, read_identity, read_plan, read_table


@dataclass(frozen=True)
class Exported:
    """A file of results that was written.

    `left_out` says what of the campaign did not go along; `words` are those of the study, which are
    sent as they are: its name, and those of the profile, of workloads and of other levels.
    """

    file: Path
    results: Results
    left_out: Sequence[str]
    words: Sequence[str]


def write(campaign: str, file: Path | None = None) -> Exported:
    """Write the results of a campaign into a file that can be sent to others.

    The file is a new one; by default `STUDY-PROFILE.results.json` in the working directory. Raises
    FsgreenError if the campaign has not been analysed, its runs were imported, or the file is there
    already.
    """
    results, plan = results_of(campaign), read_plan(campaign)
    target = Path(f"{plan.study}-{plan.profile.name}.results.json") if file is None else file
    write_new(target, lambda partial: partial.write_text(results.text(), encoding="ascii"))
    left_out = list(records.left_out(read_identity(campaign)))
    words = dict.fromkeys([plan.study, plan.profile.name, *sorted(rows.words_of(plan))])
    return Exported(target, results, left_out, list(words))


def results_of(campaign: str) -> Results:
    """Return what of a campaign goes along; raises FsgreenError as `write`."""
    if is_imported(campaign):
        raise FsgreenError(
            f"the runs of '{campaign}' were imported: nothing says on which machine they were made",
            where=paths.raw(campaign),
            next_step="send the files that they were imported from",
        )
    plan, identity = read_plan(campaign), read_identity(campaign)
    trust = rules.read(campaign)
    with of_this_version(campaign):
        return Results(
            fsgreen=__version__,
            study=plan.study,
            plan_hash=plan.hash,
            profile=records.profile(plan),
            workloads=records.digests(plan, identity),
            machine=records.machine(identity),
            testbed=records.testbed(identity),
            testbeds_count=records.testbeds_count(identity),
            boundary=records.boundary(identity),
            meters=tuple(records.meters(identity)),
            rules_fired=tuple(rows.rules_in(trust, "fired")),
            rules_unknown=tuple(rows.rules_in(trust, "unknown")),
            cells=tuple(rows.cells(campaign, plan, read_table(campaign, "cells"))),
            effects=tuple(rows.effects(campaign, plan, read_table(campaign, "effects"))),
        )
