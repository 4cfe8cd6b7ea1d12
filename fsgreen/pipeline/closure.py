"""What a stage of the pipeline rests on: the code that it can run, and the files that this reads.

The imports of its notebook's code cells tell, so that no stage has a list to keep.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsgreen import paths, schema
from fsgreen.pipeline import params
from fsgreen.pipeline.sources import PACKAGE, Sources, named

OF_NUMBERS = ("data/reference", "data/virtual")
SHIPPED = (*OF_NUMBERS, "paper")
"""Folders that stages read, and that belong to the package."""

ARTICLE = "article"
"""The stage that sets the paper over all studies, by a command and no notebook."""


def write_digests() -> None:
    """Write what each stage rests on to `build/code/STUDY/STAGE`, for the stages to depend on.

    These are lists as `sha256sum` makes them, so that a comparison of two says which file changed.
    A file that says what it said before is left alone.

    Raises FsgreenError if code that a stage can run imports by name, so that no list would be
    whole.
    """
    if paths.shipped() != paths.root():
        _tell_of_another_pipeline()
    folder = paths.root() / "build" / "code"
    sources = Sources()
    for study in studies():
        for stage in stages():
            _keep(folder / study / stage, digest(stage, study, sources))
    _keep(folder / ARTICLE, article_digest(sources))


def _keep(file: Path, text: str) -> None:
    """Write a file, unless it says that already."""
    if not file.is_file() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _tell_of_another_pipeline() -> None:
    """Say so if the package, which may be newer now, has stages that the project has otherwise."""
    own, of_package = _pipeline(), schema.plain(pipeline_of_a_project())["stages"]
    if other := [name for name, stage in of_package.items() if own.get(name) != stage]:
        print(
            f"note: the stages {', '.join(other)} of dvc.yaml are not those of this fsgreen; to "
            f"take these: fsgreen new --project {paths.root()}",
            file=sys.stderr,
        )


def stages() -> dict[str, Path]:
    """Return the notebook of each stage that runs one, as `dvc.yaml` has it, by its name."""
    notebooks = {}
    for name, stage in _pipeline().items():
        words = shlex.split(stage.get("do", stage)["cmd"])
        if words[:2] == [PACKAGE, "notebook"]:
            notebooks[name] = paths.notebook(words[2])
    return notebooks


def modules() -> list[str]:
    """Return the names of the package's modules that any stage can import."""
    sources, texts = Sources(), [_code(notebook) for notebook in stages().values()]
    files = {
        file
        for study in studies()
        for text in texts
        for file in sources.behind(text, study)
        if file.suffix == ".py"
    }
    parts = (file.relative_to(paths.code()).with_suffix("").parts for file in sorted(files))
    return [".".join(names).removesuffix(".__init__") for names in parts]


def studies() -> list[str]:
    """Return the studies that the pipeline has stages of: of their campaigns, or a ledger alone."""
    return sorted(
        {*params.studies(), *(campaign.study for campaign in params.campaigns().values())}
    )


def digest(stage: str, study: str, sources: Sources) -> str:
    """Return the list of what a stage of a study rests on: a line per file, and the notebook.

    In a project of its own, what the stage reads of the package belongs to it: `dvc.yaml` there
    cannot name it.
    """
    notebook = stages()[stage]
    first = f"{code_digest(notebook)}  code cells of {named(notebook)}\n"
    return first + _digests(stage, sources.behind(_code(notebook), study), sources)


def article_digest(sources: Sources) -> str:
    """Return the list of what the paper over all studies rests on: code for any of them."""
    rooms = {file.parent.name for file in (paths.code() / PACKAGE / "papers").glob("*/__init__.py")}
    source = f"from {PACKAGE} import {ARTICLE}"
    files = set().union(*(sources.behind(source, study) for study in sorted(rooms)))
    return _digests(ARTICLE, files, sources)


def _digests(stage: str, files: set[Path], sources: Sources) -> str:
    """Return a line for each file that a stage rests on."""
    if paths.shipped() != paths.root():
        files = files | texts_and_numbers(stage)
    return "".join(f"{sources.line(file)}\n" for file in sorted(files))


def texts_and_numbers(stage: str) -> set[Path]:
    """Return the texts of reports and the numbers of the package that a stage of it reads."""
    stages = _pipeline(paths.shipped())
    deps = stages[stage].get("do", stages[stage])["deps"] if stage in stages else ()
    files = set(paths.texts("*").values()) if "paper" in deps else set()
    for name in {*OF_NUMBERS} & {*deps}:
        files |= {file for file in (paths.shipped() / name).rglob("*") if file.is_file()}
    return files


def pipeline_of_a_project() -> str:
    """Return the `dvc.yaml` of a project of its own: that of the package, but for its folders.

    Digests name what is in them, as they are no folders of the project.
    """
    text = (paths.shipped() / "dvc.yaml").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() not in {f"- {n}" for n in SHIPPED})


def code_digest(notebook: Path) -> str:
    """Return the SHA-256 of the code cells: text, outputs and metadata do not count."""
    return hashlib.sha256(json.dumps(code_cells(notebook)).encode()).hexdigest()


def code_cells(notebook: Path) -> list[str]:
    """Return the source of each code cell of a notebook."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def _code(notebook: Path) -> str:
    return "\n".join(code_cells(notebook))


def _pipeline(folder: Path | None = None) -> dict[str, Any]:
    """Return the stages of the project, or those in another folder."""
    return _stages((folder or paths.root()).joinpath("dvc.yaml").read_text(encoding="utf-8"))


@lru_cache(maxsize=2)
def _stages(text: str) -> dict[str, Any]:
    entries: dict[str, Any] = schema.plain(text)["stages"]
    return entries
