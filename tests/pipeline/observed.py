"""The stages of campaigns, run one by one, with what each imports and opens."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from fsgreen import paths
from fsgreen.pipeline import closure
from tests.pipeline.declared import PARAMS

IGNORED = {".py", ".pyc", ".partial"}
"""Modules, which are looked at apart, and what a stage syncs that it has just written."""

OBSERVED = """
import gc, json, os, sys, warnings
from pathlib import Path
import matplotlib; matplotlib.use("Agg")
import IPython.display, papermill, seaborn, statsmodels.api, typst
gc.freeze()
for stage, cells, parameters, out in json.loads(sys.argv[1]):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, stage
        continue
    for shown in (UserWarning, FutureWarning, RuntimeWarning):
        warnings.simplefilter("error", shown)
    opened, names = set(), {"__name__": "__main__"}
    def hook(event, args):
        if event == "open" and not args[2] & (os.O_WRONLY | os.O_RDWR):
            opened.add(str(args[0]))
    sys.addaudithook(hook)
    for number, cell in enumerate(cells):
        exec(cell, names)
        if number == 0:
            names.update({k: v for k, v in parameters.items() if k in names})
    modules = [m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "fsgreen"]
    Path(out).write_text(json.dumps([modules, sorted(opened)]))
    os._exit(0)
"""
"""Runs the code cells of each stage in a process that has imported nothing of fsgreen before, and
keeps which modules it has imported and which files it has opened. What else is imported is so once
for all."""


class Observed(NamedTuple):
    """What a stage did for a campaign."""

    campaign: str
    stage: str
    modules: set[Path]
    """Those of the package that it imported."""
    opened: set[str]
    """The files that it opened, from the root."""


def observe(campaigns: Sequence[str], data: Path, out: Path) -> list[Observed]:
    """Run every stage of campaigns in a folder of data; a warning of one is a failure."""
    cells = {name: closure.code_cells(notebook) for name, notebook in closure.stages().items()}
    runs = [*product(campaigns, cells)]
    given = [
        (stage, cells[stage], parameters_of(campaign), str(out / f"{campaign} {stage}"))
        for campaign, stage in runs
    ]
    own = {"FSGREEN_DATA": str(data), "PYTHONPATH": str(paths.root()), "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", OBSERVED, json.dumps(given)],
        env=os.environ | own,
        cwd=data,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = []
    for campaign, stage in runs:
        modules, opened = json.loads((out / f"{campaign} {stage}").read_text())
        names = {name.replace(str(data), str(paths.root() / "data")) for name in opened}
        inside = {os.path.relpath(name, paths.root()) for name in names if name.startswith("/")}
        read = {
            n
            for n in inside
            if not n.startswith(("..", ".venv")) and not IGNORED & {*Path(n).suffixes}
        }
        found.append(Observed(campaign, stage, {Path(module) for module in modules}, read))
    return found


def parameters_of(campaign: str) -> dict[str, object]:
    """What the notebooks of its stages are given."""
    return {**PARAMS[campaign], "campaign": campaign, "shipped": True}
