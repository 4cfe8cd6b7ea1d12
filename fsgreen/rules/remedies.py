"""What to do about a rule that fired: commands that work for the judged campaign."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

from fsgreen.design.owncopy import file_to_change, measured_as, to_change
from fsgreen.rules.catalogue import Rule
from fsgreen.rules.evidence import Evidence
from fsgreen.trace import ErrorBudget, enough_s

ANY: Mapping[str, str] = {
    "campaign": "CAMPAIGN",
    "study": "STUDY",
    "profile": "PROFILE",
    "file": "studies/STUDY.yaml",
    "own": "STUDY",
    "measure": "fsgreen measure STUDY --profile PROFILE --name CAMPAIGN",
    "enough": "5 blocks or more in the profile, and fsgreen measure STUDY --profile PROFILE",
    "another": "fsgreen measure STUDY --profile PROFILE --name CAMPAIGN-2",
    "changed": "fsgreen measure STUDY --profile PROFILE --name CAMPAIGN-2",
    "again": "fsgreen reproduce",
    "longer": "longer measure_s",
}
"""The placeholders of remedies, and what stands for them where no campaign is judged."""


def of_measured(campaign: str, evidence: Evidence, rule: Rule) -> str:
    """Return the remedy of a rule for a measured campaign.

    Its commands use the testbed and the folder with which the campaign began.
    """
    plan = evidence.plan
    study, profile, file = plan.study, plan.profile.name, file_to_change(plan.study)
    place, least = _place(evidence.identity), plan.bounds["minimum_trials"]

    begun = measured_as(plan)

    def measured(name: str, *, of: str = begun) -> str:
        return f"fsgreen measure {of} --profile {profile} --name {name}{place}"

    own = to_change(study)
    enough = measured(campaign)
    if plan.profile.last_block < least:  # a campaign keeps its plan
        more = measured(f"{campaign}-{least:g}", of=own)
        enough = f"blocks: {least:g} in profile {profile} of {file}, then {more}"
    notebook = "fsgreen notebook 60_analyse -p campaign"
    return rule.remedy.format(
        campaign=campaign,
        study=study,
        profile=profile,
        file=file,
        own=own,
        measure=measured(campaign),
        enough=enough,
        another=measured(f"{campaign}-2"),
        changed=measured(f"{campaign}-2", of=own),
        again=f"fsgreen reproduce, or, if params.yaml does not name it: {notebook} {campaign}",
        longer=_longer(evidence),
    )


def _longer(evidence: Evidence) -> str:
    """Return in words the length that trials need (rule 16); without one too short, any longer."""
    windows, share = evidence.plan.profile.windows, evidence.plan.bounds["budget_percent"] / 100
    fixed_j = 0.0
    for record in evidence.records[:1]:
        names = record.efficiency_meters or record.meters
        fixed_j = sum(record.meters[name].constant_error_j for name in names)
    trials = evidence.trials[["energy_j", "duration_s", "error_constant_j", "error_edges_j"]]
    needed_s = [
        enough_s(
            ErrorBudget(0.0, constant_j, 0.0, edges_j),
            energy_j,
            duration_s,
            share=share,
            intervals=1 if windows is None else windows.count,
            fixed_j=fixed_j,
        )
        for energy_j, duration_s, constant_j, edges_j in trials.itertuples(index=False)
        if constant_j + edges_j > share * energy_j
    ]
    if not needed_s:
        return ANY["longer"]
    if math.isinf(max(needed_s)):
        return "a meter of a smaller constant error, or a larger budget_percent"
    key = "measure_s" if windows is None else "length_s of windows"
    return f"{key}: {math.ceil(max(needed_s))}"


def _place(identity: Mapping[str, Any]) -> str:
    """Return the options of `measure` for a campaign's testbed; "" if `auto` chooses the same."""
    testbed = identity["testbed"]
    if testbed["kind"] == "block" or identity["boundary"] != "modelled":
        return " --testbed FILE.toml, the one that it began with"
    folder = f" --folder {shlex.quote(testbed['folder'])}" if "folder" in testbed else ""
    if testbed["kind"] == "loop":
        return (" --testbed loop --in-memory" if testbed.get("in_memory") else "") + folder
    return f" --testbed {testbed['kind']}{folder}"
