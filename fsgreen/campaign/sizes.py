"""How large the files of a plan are, beside the memory that may cache them and the image.

fast10's servers had several times as much data as memory: at a scale at which all files fit into
memory, it answers in place of the device (rule 45).
"""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen import audit
from fsgreen.campaign.fitting import asked_of_workload, workload_of
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError


def of_files(plan: Plan) -> Iterator[str]:
    """Yield a title, and a line for each workload: the size of its files, over memory and image.

    Of cells that ask one workload for different files the largest count. The memory is the cell's
    `memory_mib` at its scale, else this machine's. Why a size is not known is said instead.
    """
    machine_b = audit.audit()["memory_b"]
    yield "files:"
    cells = {asked_of_workload(cell): cell for cell in plan.cells}.values()
    for name in dict.fromkeys(str(cell["workload"]) for cell in cells):
        of_workload = [cell for cell in cells if cell["workload"] == name]
        try:
            files_b, cell = max(
                ((workload_of(plan, cell).size_b, cell) for cell in of_workload),
                key=lambda pair: pair[0],
            )
        except FsgreenError as error:
            yield f"  {name}: not known: {error.what}"
            continue
        shares = [f"{files_b / plan.profile.image_b:.2g} of the image"]
        if memory_b := plan.memory_limit_b(cell) or machine_b:
            shares.insert(0, f"{files_b / memory_b:.2g} of the memory that may cache them")
        yield f"  {name}: {files_b / 2**20:.0f} MiB, {', '.join(shares)}"
