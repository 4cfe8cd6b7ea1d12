"""The sizes of a plan's files, relative to the image and to the memory that may cache them.

The servers of fast10 had several times as much data as memory. At a scale at which all files fit
into memory, memory serves the reads instead of the device (rule 45).
"""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen import audit
from fsgreen.campaign.fitting import asked_of_workload, workload_of
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError


def of_files(plan: Plan) -> Iterator[str]:
    """Yield a title and a line for each workload: its size of files, relative to memory and image.

    If cells of one workload have different files, the largest count. The memory is the cell's
    limit at its scale, or else this machine's memory. If a size is not known, the line says why.
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
