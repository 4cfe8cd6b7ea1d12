"""Checks, when a campaign continues, that testbed, meters, workloads and machine are the same.

The analysis could not pool different ones. So they are refused here, before days are spent on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsgreen import audit
from fsgreen.errors import FsgreenError

OF_THE_DAY = ("device", "floor", "folder", "privileges", "schedulers", "why")
"""Keys of a testbed's description that may differ from day to day."""

LAYERS = ("lowerdir=", "upperdir=", "workdir=")
"""Mount options of overlay that name the folders of a container. Other containers have others."""


def check_same(key: str, begun: Mapping[str, Any], today: Mapping[str, Any], folder: Path) -> None:
    """Raise FsgreenError if a key of the identity has changed: testbed, meters or boundary.

    `begun` is the identity that the campaign began with, and `today` the present one.
    """
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
    """Raise FsgreenError if the text of a workload has changed (rule 9).

    Its name is still the same, so different work would be pooled. An older campaign did not record
    its texts; then nothing is checked.
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
    """Raise FsgreenError if the audit of the machine differs from the campaign's first (rule 9)."""
    if changed := audit.differences([begun["audit"], today["audit"]]):
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
