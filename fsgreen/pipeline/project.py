"""A project of one's own: a folder outside of the package's, for a study and its paper."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from fsgreen import __version__, paths
from fsgreen.design import newstudy
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.closure import pipeline_of_a_project

PARAMS = """\
# The campaigns that the pipeline analyses. One more is one more entry: its name, its study, the
# profile that it was measured under, and where.
campaigns:
  {name}-quick:
    study: {name}
    profile: quick
    place: --testbed auto
# The studies whose campaigns are put side by side in a ledger.
studies:
- {name}
"""

ENVIRONMENT = """\
# conda env create -f environment.yml && conda activate {name}; or, into a venv:
# pip install fsgreen=={version} fsgreen-engine
name: {name}
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python>=3.11,<3.14
  - pip
  - pip:
      - fsgreen=={version}
      - fsgreen-engine
"""

IGNORED = """\
# results are made from traces, which are under DVC (their store ships in data/store)
/build/
/data/raw/
/data/results/
/data/ledgers/*/*
!/data/ledgers/*/campaigns/
/data/ledgers/*/campaigns/*.json
/data/article/
/data/scratch/
__pycache__/
.ipynb_checkpoints/
"""

README = """\
# {name}

A study with fsgreen {version}: traces, tables, figures and the report.

```
fsgreen plan {name}                                # what studies/{name}.yaml says, checked whole
fsgreen measure {name}                             # goes on where it was stopped
fsgreen pack {name}-quick                          # one file of all traces
dvc repro plan@{name}-quick && dvc commit -f collect@{name}-quick
dvc repro                                           # data/results/{name}-quick/report.pdf
dvc push && git add . && git commit                 # traces are in data/store, which git keeps
```

Who clones this types `dvc pull` and `dvc repro`, and needs nothing to measure with. `params.yaml`
lists the campaigns. Notebooks of your own belong into `notebooks/`; one with the name of a step
(`70_figures.ipynb`) replaces it. A text `paper/{name}.typ` replaces that of the report.
"""


def write(folder: Path, name: str | None = None) -> list[Path]:
    """Make a project, or bring the `dvc.yaml` of one up to this version; return what was written.

    Other files that are there stay as they are.

    The folder is made if there is none. `name` is that of the study to begin with; without it that
    of the folder. Raises FsgreenError if the name cannot be one, or if the pipeline of something
    else is there.
    """
    folder = folder.resolve()
    name = name or folder.name
    is_project = (folder / "params.yaml").is_file() and (folder / "studies").is_dir()
    if (folder / "dvc.yaml").is_file() and not is_project:
        raise FsgreenError(
            "there is another pipeline, which would be overwritten",
            where=folder / "dvc.yaml",
            next_step=f"a folder of its own: fsgreen new {name} --project FOLDER",
        )
    texts = {
        f"studies/{name}.yaml": newstudy.text(name),
        "params.yaml": PARAMS.format(name=name),
        "environment.yml": ENVIRONMENT.format(name=name, version=__version__),
        "README.md": README.format(name=name, version=__version__),
        "notebooks/.gitkeep": "",
        ".gitignore": IGNORED,
        ".dvcignore": (paths.shipped() / ".dvcignore").read_text(),
    }
    if (folder / "params.yaml").is_file():
        texts = {}
    written = {file: text for file, text in texts.items() if not (folder / file).exists()}
    written["dvc.yaml"] = pipeline_of_a_project()
    for file, text in written.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    if not (folder / ".dvc").exists():
        _under_dvc(folder)
    return [folder / file for file in written]


def _under_dvc(folder: Path) -> None:
    """Put the folder under git, unless it is part of a repository, and under DVC."""
    from dvc.repo import Repo

    git = shutil.which("git")
    inside = git and subprocess.run(
        [git, "-C", folder, "rev-parse", "--git-dir"], capture_output=True, check=False
    )
    if git and inside and inside.returncode:
        subprocess.run([git, "init", "--quiet", folder], check=True)
    top = (folder / ".git").exists()
    Repo.init(str(folder), no_scm=not git, subdir=bool(git) and not top).close()
    shutil.copyfile(paths.shipped() / ".dvc" / "config", folder / ".dvc" / "config")
