"""What a campaign began with, and what may not be another when it goes on.

What the analysis would not pool is refused here, before days are spent on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsgreen import audit
from fsgreen.errors import FsgreenError

OF_THE_DAY = ("device", "floor", "folder", "privileges", "schedulers", "why")
"""What a testbed says of itself that may differ from day to day."""

LAYERS = ("lowerdir=", "upperdir=", "workdir=")
"""Options of overlay that name folders of one container; the next one has others."""


def check_same(key: str, begun: Mapping[str, Any], today: Mapping[str, Any], folder: Path) -> None:
    """Raise FsgreenError if the testbed, the meters or the boundary is another one."""
    then, now = _lasting(begun[key]), _lasting(today[key])
    if then != now:
        raise FsgreenError(
            f"the {key} is not the one that the campaign began with:\n"
            f"    then {then}\n    now  {now}",
            where=folder,
            next_step="go on with the first one (--testbed, --folder), or begin another with "
            "--name",
        )


def check_texts(begun: Mapping[str, Any], today: Mapping[str, Any], folder: Path) -> None:
    """Raise FsgreenError if the text of a workload is another one (rule 9).

    Its name stays, and what is done under it would be pooled with something else. An older campaign
    does not know which text it began with.
    """
    texts = begun.get("workloads", {})
    changed = {
        name: sha256
        for name, sha256 in today["workloads"].items()
        if texts.get(name, sha256) != sha256
    }
    if changed:
        lines = [
            f"{name}: then {texts[name][:12]}, now {now[:12]}" for name, now in changed.items()
        ]
        raise FsgreenError(
            "the text of a workload is not the one that the campaign began with, and trials of "
            "both would not be pooled (rule 9), by SHA-256:\n    " + "\n    ".join(lines),
            where=folder,
            next_step="bring back the text (git log -p --follow FILE.f shows its changes), "
            f"or begin another campaign: --name {folder.name}-2",
        )


def check_machine(begun: Mapping[str, Any], today: Mapping[str, Any], folder: Path) -> None:
    """Raise FsgreenError if the machine is not as the campaign began with it (rule 9)."""
    changed = audit.differences([begun["audit"], today["audit"]])
    if changed:
        lines = [f"{key}: then {then}, now {now}" for key, (then, now) in changed.items()]
        raise FsgreenError(
            "the machine is not as the campaign began with it, and trials of both would not "
            "be pooled (rule 9):\n    " + "\n    ".join(lines),
            where=folder,
            next_step="set it as it was (boot that kernel, fsgreen host show), "
            "or begin another campaign with --name",
        )


def _lasting(value: Any) -> str:
    if isinstance(value, Mapping):
        value = {key: inner for key, inner in value.items() if key not in OF_THE_DAY}
        if "mount_options" in value:
            value["mount_options"] = [
                option for option in value["mount_options"] if not option.startswith(LAYERS)
            ]
    return json.dumps(value, sort_keys=True)
