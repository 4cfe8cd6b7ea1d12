"""An NVMe drive and nvme-cli, of files: its power state, and what a read does to one that rests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import machines

from fsgreen import host

NVME = """
[ "$2" = {node} ] || { echo 'Feature Not Namespace Specific' >&2; exit 1; }
case $1 in
id-ctrl) cat {root}/identity ;;
get-feature)
  printf 'get-feature:0x02 (Power Management), Current value:0x%08x\\n' "$(cat {root}/now)" ;;
set-feature) printf '%d\\n' "${4#--value=}" | tee {root}/works >{root}/now ;;
esac
"""
"""nvme-cli and a drive: `now` is its power state, `works` the one in which it worked last."""

WAKES = "cat {root}/works >{root}/now"

WORKS, RESTS = {"non-operational_state": 0}, {"non-operational_state": 1}
STATES = [WORKS, WORKS, WORKS, RESTS, RESTS]

REST = "sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us"
"""The kernel's file for APST."""


def identity(states: object) -> str:
    """What `nvme id-ctrl` says of a drive with these states."""
    return json.dumps({"mn": "Emulated SSD", "psds": states})


def nvme_cli(root: Path, node: str) -> None:
    """Make `nvme` in `root/bin`, for the controller at `node`, whose drive works in state 0."""
    machines.program(root, "nvme", NVME.replace("{node}", node))
    machines.write(root, "identity", identity(STATES))
    machines.write(root, "works", "0")
    machines.write(root, "now", "0")


def plug_in(tree: host.Tree) -> Callable[[], tuple[str | None, str | None]]:
    """Give a machine the drive `nvme0n1`, at rest; return a function for `works` and `now`."""
    machines.write(tree.root, "sys/block/nvme0n1/queue/read_ahead_kb", "128")
    machines.write(tree.root, "sys/block/nvme0n1/diskseq", "4")
    machines.program(tree.root, "dd", WAKES)
    nvme_cli(tree.root, f"{tree.root}/dev/nvme0")
    machines.write(tree.root, "now", "4")
    return lambda: (tree.text("works"), tree.text("now"))
