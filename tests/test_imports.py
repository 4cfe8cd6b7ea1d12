"""The architecture: a module imports only from below."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from fsgreen import paths

PACKAGE = paths.root() / "fsgreen"

# From the bottom. Within a layer a room may import those before it, except where `apart`.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "errors",
        "schema",
        "paramsfile",
        "scratch",
        "units",
        "words",
        "paths",
        "absence",
        "ownership",
        "durable",
        "progress",
        "executors",
        "elsewhere",
        "commands",
        "debian",
        "processes",
        "simdisk",
        "greenfs",
    ),
    ("stats", "trace", "trial", "design", "audit"),
    ("meters", "workloads", "devices", "stacks", "testbeds", "host"),
    ("preflight", "campaign", "calibration"),
    (
        "reduce",
        "runs",
        "confounds",
        "claims",
        "rules",
        "figures",
        "analysis",
        "recommend",
        "generic",
        "papers",
    ),
    (
        *("results", "tables", "typeset", "exhibits", "report", "outcome", "assay", "beside"),
        *("gathered", "ledger", "fleet", "cluster", "pipeline", "article", "evidence", "artifact"),
        *("view", "labs", "saving", "site"),
    ),
    ("cli", "__main__"),
)
APART = ("meters", "workloads", "devices")
PLACE = {
    room: (level, order) for level, rooms in enumerate(LAYERS) for order, room in enumerate(rooms)
}


def room_of(file: Path) -> str:
    """The module or package directly under fsgreen/ that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms_imported(source: str) -> set[str]:
    """The rooms of fsgreen that a source text imports, at any depth of nesting."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports inside the package are absolute"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    own = [name.split(".") for name in names if name.split(".")[0] == "fsgreen"]
    return {parts[1] for parts in own if len(parts) > 1} - {"__version__"}


def may_import(room: str, other: str) -> bool:
    """Whether the table of layers lets `room` import `other`."""
    if room == other:
        return True
    if room in APART and other in APART:
        return False
    return PLACE[other] < PLACE[room]


def test_imports_go_downward() -> None:
    """What a room may not know it cannot break."""
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        if file == PACKAGE / "__init__.py":
            continue
        name, room = file.relative_to(PACKAGE), room_of(file)
        assert room in PLACE, f"{room} has no place in the table of layers"
        for other in sorted(rooms_imported(file.read_text())):
            if not may_import(room, other):
                wrong.append(f"{name} may not import {other}")
    assert not wrong


def test_the_rule_sees_every_form_of_import() -> None:
    forms = ("import fsgreen.cli", "from fsgreen import cli", "from fsgreen.cli import main")
    for form in forms:
        assert rooms_imported(form) == {"cli"}
        assert rooms_imported(f"def f():\n    {form}") == {"cli"}
    assert not may_import("errors", "cli")
    assert not may_import("meters", "testbeds")
    assert may_import("cli", "errors")


@pytest.mark.parametrize("module", ["fsgreen", "fsgreen.cli", "fsgreen.testbeds"])
def test_import_brings_no_heavy_package(module: str) -> None:
    """The command must answer at once: heavy packages are imported where they are used."""
    heavy = {"pandas", "matplotlib", "scipy", "papermill", "IPython", "jupyterlab", "dvc", "typst"}
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr
    assert not heavy & set(loaded.stdout.split())
