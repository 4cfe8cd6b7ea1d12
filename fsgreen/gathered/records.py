"""What goes along of the records of a campaign: how much was run, and a machine in broad terms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, get_args

from fsgreen.audit.machine import HYPERVISORS
from fsgreen.design import Plan
from fsgreen.gathered import broad
from fsgreen.gathered.document import Disk, Machine, Meter, Profile, Testbed
from fsgreen.meters.core.registry import GROUP
from fsgreen.testbeds import BUILT_IN
from fsgreen.trace import Boundary

Identity = Mapping[str, Any]
"""What `campaign.json` says."""

BOUNDARIES = get_args(Boundary)
CLOCKS = ("real", "virtual", "kvm", "tcg")
VIRTUAL_MACHINES = {*HYPERVISORS.values(), "none", "unknown"}
DIGEST = re.compile(r"[0-9a-f]{64}")

ALONG: Mapping[str, Sequence[str]] = {
    "campaign": (
        *("study", "plan_hash", "audit", "testbed", "testbeds"),
        *("meters", "boundary", "workloads"),
    ),
    "audit": ("cpu", "cores_count", "memory_b", "kernel", "virtual_machine", "disks"),
    "testbed": ("kind", "in_memory", "model", "clock"),
    "meter": ("driver", "model", "boundary", "rate_hz", "resolution_w", "gain_error", "source"),
    "disk": ("model", "rotational"),
}
"""Keys of records of which something goes along; others do not."""


def profile(plan: Plan) -> Profile:
    """Return how much of a study was run."""
    of, used = plan.profile, _workloads(plan)
    return Profile(
        name=of.name,
        blocks=of.blocks,
        most_blocks=of.most_blocks,
        idle_s=of.idle_s,
        warmup_s=of.warmup_s,
        measure_s=of.measure_s,
        window_s=None if of.windows is None else of.windows.length_s,
        image_b=int(of.image_b),
        scale={name: scale for name, scale in of.scale.items() if name in used},
    )


def digests(plan: Plan, identity: Identity) -> dict[str, str]:
    """Return the digests of the texts of the plan's workloads; older campaigns have none."""
    texts, used = identity.get("workloads") or {}, _workloads(plan)
    return {
        name: digest
        for name, digest in texts.items()
        if name in used and isinstance(digest, str) and DIGEST.fullmatch(digest)
    }


def machine(identity: Identity) -> Machine:
    """Return the machine in broad terms."""
    audit = identity.get("audit") or {}
    cores = broad.number(audit.get("cores_count"))
    return Machine(
        cpu=broad.hardware(audit.get("cpu")),
        cores_count=None if cores is None else int(cores),
        memory_b=broad.memory_b(audit.get("memory_b")),
        kernel=broad.kernel(audit.get("kernel")),
        architecture=broad.architecture(audit.get("kernel")),
        virtual_machine=broad.one_of(audit.get("virtual_machine"), VIRTUAL_MACHINES),
        disks=tuple(
            Disk(
                model=broad.hardware(disk.get("model")),
                rotational=turns if isinstance(turns := disk.get("rotational"), bool) else None,
            )
            for disk in (audit.get("disks") or {}).values()
        ),
    )


def testbed(identity: Identity) -> Testbed:
    """Return what trials ran on."""
    of = identity["testbed"]
    return Testbed(
        kind=broad.one_of(of.get("kind"), BUILT_IN),
        in_memory=of.get("in_memory") is True,
        model=broad.hardware(of.get("model")),
        clock=broad.one_of(of["clock"], CLOCKS) if "clock" in of else "",
    )


def testbeds_count(identity: Identity) -> int:
    """Return on how many testbeds trials ran: on one, unless several shared the blocks."""
    return len(identity.get("testbeds", ())) or 1


def boundary(identity: Identity) -> str:
    """Return what the power of a campaign includes."""
    return broad.one_of(identity.get("boundary"), BOUNDARIES)


def meters(identity: Identity) -> Iterator[Meter]:
    """Yield the meters in broad terms."""
    shipped = {
        entry.name for entry in entry_points(group=GROUP) if entry.value.startswith("fsgreen.")
    }
    for meter in (identity.get("meters") or {}).values():
        yield Meter(
            driver=broad.one_of(meter.get("driver"), shipped),
            model=broad.hardware(meter.get("model")),
            boundary=broad.one_of(meter.get("boundary"), BOUNDARIES),
            rate_hz=broad.number(meter.get("rate_hz")),
            resolution_w=broad.number(meter.get("resolution_w")),
            gain_error=broad.number(meter.get("gain_error")),
            source_sha256=hashlib.sha256(str(meter.get("source")).encode()).hexdigest(),
        )


def left_out(identity: Identity) -> Iterator[str]:
    """Yield what of a campaign does not go along; of its records, by their keys."""
    yield "its name, its trials and traces, and what else lies in its folder"
    yield "of every text, all words but those of makers of hardware"
    audit = identity.get("audit") or {}
    parts: Mapping[str, Sequence[Mapping[str, Any]]] = {
        "campaign": [identity],
        "audit": [audit],
        "testbed": [identity["testbed"]],
        "meter": [*(identity.get("meters") or {}).values()],
        "disk": [*(audit.get("disks") or {}).values()],
    }
    for name, values in parts.items():
        keys = dict.fromkeys(key for value in values for key in value)
        if left := [key for key in keys if key not in ALONG[name]]:
            yield f"of the {name}: {', '.join(left)}"


def _workloads(plan: Plan) -> set[str]:
    return {cell["workload"] for cell in plan.cells if "workload" in cell}
