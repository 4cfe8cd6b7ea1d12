"""The state in which a trial begins: device, file system, files and cache, made and verified."""

from __future__ import annotations

from dataclasses import dataclass

from fsgreen.campaign import checks
from fsgreen.design import Plan, PlannedTrial, derive_seed
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Mount, Testbed
from fsgreen.trial import Check
from fsgreen.workloads import Workload, WorkloadFailed


@dataclass(frozen=True)
class Prepared:
    """A mounted file system with its files.

    `resident_share` is the share of their bytes that was found in the page cache.
    """

    mount: Mount
    resident_share: float
    checks: tuple[Check, ...]


def prepare(testbed: Testbed, workload: Workload, plan: Plan, planned: PlannedTrial) -> Prepared:
    """Make the file system and the files of a trial in the state that its levels ask for.

    A block has a seed of its own for aging, so that what is found of aged file systems is not that
    of one of them; the workloads of a block share it. Raises FsgreenError if it cannot be made.
    """
    levels = plan.levels(planned.cell)
    made = testbed.prepare(levels, seed=derive_seed(plan.seed, "age", planned.block))
    try:
        with testbed.entered():
            workload.prepare(made.directory, planned.seed)
    except FsgreenError as error:
        raise WorkloadFailed(error.what, where=error.where, next_step=error.next_step) from error
    mount = testbed.remount()
    warm = levels["cache"] == "warm"
    resident_share = testbed.warm() if warm else testbed.resident_share()
    verified = (
        checks.check_cache(levels["cache"], resident_share, testbed.describe()["cold_cache"]),
        checks.check_device(levels["device"], made),
        checks.check_scheduler(levels["scheduler"], mount.scheduler),
    )
    return Prepared(mount, resident_share, verified)
