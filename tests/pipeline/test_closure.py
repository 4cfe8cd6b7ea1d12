"""What stages depend on: neither too little, an old result would stand, nor too much."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import closure, pull

PARAMS = yaml.safe_load((paths.root() / "params.yaml").read_text())["campaigns"]
DVC = yaml.safe_load((paths.root() / "dvc.yaml").read_text())["stages"]
SMALLEST = {"fast10": "fast10-disk", "nfstricks03": "nfstricks03"}
"""By study, the campaign with the fewest trials."""


def filled(text: str, campaign: str) -> str:
    """A path or command of a stage for a campaign."""
    for name, value in PARAMS[campaign].items():
        text = text.replace(f"${{item.{name}}}", value)
    return text.replace("${key}", campaign)


def entries(stage: str, kind: str, campaign: str) -> list[str]:
    """The dependencies (`deps`) or outputs (`outs`) of a stage for a campaign."""
    listed = DVC[stage].get("do", DVC[stage]).get(kind, [])
    return [
        filled(entry if isinstance(entry, str) else next(iter(entry)), campaign) for entry in listed
    ]


def test_every_stage_of_a_notebook_depends_on_its_digest() -> None:
    assert set(closure.stages()) == set(DVC) - {"digest", "collect"}
    for stage in closure.stages():
        for campaign, entry in PARAMS.items():
            assert f"build/code/{entry['study']}/{stage}" in entries(stage, "deps", campaign)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three modules, of which a notebook imports one, and that another in turn."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    monkeypatch.setattr(paths, "notebooks", lambda: tmp_path)
    files = {
        "fsgreen/__init__.py": "def open():\n    from fsgreen import apart",
        "fsgreen/near/__init__.py": "def f():\n    from fsgreen import far",
        "fsgreen/near/table.csv": "1",
        "fsgreen/near/other.csv": "1",
        "fsgreen/far.py": 'from pathlib import Path\nFILE = Path(__file__).parent / "texts"',
        "fsgreen/texts/one.f": "1",
        "fsgreen/apart.py": "",
        "fsgreen/papers/__init__.py": "def step(c, n):\n    import_module(n)",
        "fsgreen/papers/mine/__init__.py": "",
        "fsgreen/papers/mine/analyse.py": "",
        "fsgreen/papers/theirs/__init__.py": "",
        "fsgreen/papers/theirs/analyse.py": "",
        "params.yaml": "campaigns: {c: {study: mine, profile: quick, place: here}}",
        "studies/mine.yaml": "profiles: {quick: {}}",
        "dvc.yaml": "stages: {go: {cmd: fsgreen notebook 05_go}}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    write_notebook(
        tmp_path,
        "from fsgreen import near, papers\n",
        'papers.step(c, "analyse").write("table.csv")',
    )
    return tmp_path


def write_notebook(folder: Path, *cells: str) -> None:
    made = [{"cell_type": "code", "source": [cell], "metadata": {}} for cell in cells]
    (folder / "05_go.ipynb").write_text(json.dumps({"cells": made}))


@pytest.mark.parametrize(
    "touched",
    [
        "05_go.ipynb",
        "fsgreen/__init__.py",
        "fsgreen/far.py",
        "fsgreen/near/__init__.py",
        "fsgreen/papers/mine/analyse.py",
        "fsgreen/texts/one.f",
    ],
)
def test_an_edit_of_what_a_stage_uses_changes_its_digest(package: Path, touched: str) -> None:
    before = closure.digest("go", "mine")
    text = (package / touched).read_text()
    (package / touched).write_text(
        text.replace("(c, ", "(d, ") if "ipynb" in touched else text + "#"
    )
    assert closure.digest("go", "mine") != before


@pytest.mark.parametrize(
    "touched", ["fsgreen/apart.py", "fsgreen/near/other.csv", "fsgreen/papers/theirs/analyse.py"]
)
def test_an_edit_of_anything_else_does_not(package: Path, touched: str) -> None:
    before = closure.digest("go", "mine")
    (package / touched).write_text("edited")
    assert closure.digest("go", "mine") == before


def test_an_import_that_cannot_be_followed_is_refused(package: Path) -> None:
    """Otherwise a list would look whole and lack what that imports."""
    (package / "fsgreen" / "far.py").write_text("import importlib\nimportlib.import_module(name)")
    with pytest.raises(FsgreenError, match=r"line 2 imports(.|\n)*far\.py"):
        closure.digest("go", "mine")


def test_digests_are_written_for_each_study_and_left_alone_while_they_hold(package: Path) -> None:
    """A new time of change would make DVC hash all of them again."""
    closure.write_digests()
    (file,) = (package / "build" / "code").rglob("go")
    assert file.parent.name == "mine"
    os.utime(file, (1, 1))
    closure.write_digests()
    assert file.stat().st_mtime == 1
    (package / "fsgreen" / "far.py").write_text("")
    closure.write_digests()
    assert file.stat().st_mtime > 1


# --- beside what stages really do ---------------------------------------------------------------

IGNORED = {".py", ".pyc", ".partial"}
"""Modules, which are looked at apart, and what a stage syncs that it has just written."""

OBSERVED = """
import json, os, sys
from pathlib import Path
import matplotlib; matplotlib.use("Agg")
import IPython.display, papermill, seaborn, statsmodels.api, typst
stages, campaign, parameters, out = json.loads(sys.argv[1])
for stage, cells in stages.items():
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, stage
        continue
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
    Path(out, stage).write_text(json.dumps([modules, sorted(opened)]))
    os._exit(0)
"""
"""Runs the code cells of each stage in a process that has imported nothing of fsgreen before, and
keeps which modules it has imported and which files it has opened."""


@pytest.fixture(scope="module", params=sorted(SMALLEST))
def observed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, tuple[set[Path], set[str]]]]:
    """A campaign, and by stage the modules it imported and the files it opened, from the root."""
    campaign = SMALLEST[request.param]
    pull(campaign)
    data, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("observed")
    (data / "raw").mkdir()
    (data / "raw" / campaign).symlink_to(paths.root() / "data" / "raw" / campaign)
    stages = {name: closure.code_cells(notebook) for name, notebook in closure.stages().items()}
    given = [stages, campaign, {**PARAMS[campaign], "campaign": campaign}, str(out)]
    subprocess.run(
        [sys.executable, "-c", OBSERVED, json.dumps(given)],
        env=os.environ | {"FSGREEN_DATA": str(data), "PYTHONPATH": str(paths.root())},
        cwd=data,
        check=True,
        capture_output=True,
    )
    found = {}
    for stage in stages:
        modules, opened = json.loads((out / stage).read_text())
        names = {name.replace(str(data), str(paths.root() / "data")) for name in opened}
        inside = {os.path.relpath(name, paths.root()) for name in names if name.startswith("/")}
        read = {
            n
            for n in inside
            if not n.startswith(("..", ".venv")) and not IGNORED & {*Path(n).suffixes}
        }
        found[stage] = ({Path(module) for module in modules}, read)
    return campaign, found


@pytest.mark.pipeline
def test_every_module_that_a_stage_imports_is_in_its_digest(observed) -> None:
    campaign, stages = observed
    for stage, (modules, _) in stages.items():
        listed = closure.digest(stage, PARAMS[campaign]["study"])
        assert modules
        for module in modules:
            assert f"  {module.relative_to(paths.root())}\n" in listed, f"{stage}: {module}"


@pytest.mark.pipeline
def test_every_file_that_a_stage_reads_is_declared(observed) -> None:
    campaign, stages = observed
    for stage, (_, opened) in stages.items():
        listed = closure.digest(stage, PARAMS[campaign]["study"])
        declared = [*entries(stage, "deps", campaign), *entries(stage, "outs", campaign)]
        if f"data/results/{campaign}/raw.sha256" in declared:
            declared.append(f"data/raw/{campaign}")
        for name in opened:
            within = any(name == entry or name.startswith(f"{entry}/") for entry in declared)
            assert within or f"  {name}\n" in listed, f"{stage} reads {name}"
