"""What to do about a rule that fired: commands that work for the study that was judged."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from fsgreen.rules.catalogue import Rule
from fsgreen.rules.evidence import Evidence

ANY: Mapping[str, str] = {
    "campaign": "CAMPAIGN",
    "study": "STUDY",
    "profile": "PROFILE",
    "measure": "fsgreen measure STUDY --profile PROFILE --name CAMPAIGN",
    "enough": "5 blocks or more in the profile, and fsgreen measure STUDY --profile PROFILE",
    "another": "fsgreen measure STUDY --profile PROFILE --name CAMPAIGN-2",
    "again": "fsgreen reproduce",
}
"""What remedies name where no campaign is judged."""


def of_measured(campaign: str, evidence: Evidence, rule: Rule) -> str:
    """Return the remedy of a rule for a campaign, which goes on in the place where it began."""
    plan = evidence.plan
    study, profile = plan.study, plan.profile.name
    of_profile, place = f"fsgreen measure {study} --profile {profile}", _place(evidence.identity)
    measure, least = f"{of_profile} --name {campaign}{place}", plan.bounds["minimum_trials"]
    enough = measure
    if plan.profile.last_block < least:  # a campaign keeps its plan
        enough = (
            f"blocks: {least:g} in profile {profile} of studies/{study}.yaml, then {of_profile} "
            f"--name {campaign}-{least:g}{place}"
        )
    notebook = "fsgreen notebook 60_analyse -p campaign"
    return rule.remedy.format(
        campaign=campaign,
        study=study,
        profile=profile,
        measure=measure,
        enough=enough,
        another=f"{of_profile} --name {campaign}-2{place}",
        again=f"fsgreen reproduce, or, if params.yaml does not name it: {notebook} {campaign}",
    )


def _place(identity: Mapping[str, Any]) -> str:
    """Return what says to `measure` where a campaign began; nothing where `auto` takes that."""
    testbed = identity["testbed"]
    if testbed["kind"] == "block" or identity["boundary"] != "modelled":
        return " --testbed FILE.toml, the one that it began with"
    folder = f" --folder {shlex.quote(testbed['folder'])}" if "folder" in testbed else ""
    if testbed["kind"] == "loop":
        return (" --testbed loop --in-memory" if testbed.get("in_memory") else "") + folder
    return f" --testbed {testbed['kind']}{folder}"
