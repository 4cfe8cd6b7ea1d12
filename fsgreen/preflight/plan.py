"""Whether a plan fits its testbed."""

from __future__ import annotations

from fsgreen import testbeds, workloads
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError


def check_plan(plan: Plan, testbed: testbeds.Testbed) -> None:
    """Refuse a plan that cannot run on a testbed, before anything is formatted.

    Raises
    ------
    FsgreenError
        For an unknown workload, file system or option, or files that do not fit.
    """
    for cell in plan.cells:
        testbed.check(cell.file_system, cell.option)
    for cell in {(cell.workload, cell.readers): cell for cell in plan.cells}.values():
        name = cell.workload
        workload = workloads.load_workload(name, plan.profile.scale[name], cell.variables)
        workload.check()
        if workload.size_b > plan.profile.image_b:
            raise FsgreenError(
                f"{name} at scale {plan.profile.scale[name]:g} needs "
                f"{workload.size_b / 2**20:.0f} MiB, the image has "
                f"{plan.profile.image_b / 2**20:.0f} MiB",
                where=f"studies/{plan.study}.yaml",
                next_step=f"a smaller scale or a larger image_mib in profile {plan.profile.name}",
            )
