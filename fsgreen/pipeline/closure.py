"""What a stage of the pipeline rests on: the code that it can run, and the files that this reads.

Nothing is run or imported to find out: the imports of the notebook's code cells are followed
through the package, those inside functions too, so that no stage has a list to keep.
"""

from __future__ import annotations

import ast
import hashlib
import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fsgreen import paths, schema
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import params

PACKAGE = "fsgreen"

BY_NAME = {
    "step": "fsgreen/{room}/{name}",
    "room": "fsgreen/{room}/{name}",
    "declared": "fsgreen/{room}/{name}.yaml",
}
"""Functions that import or read what their last argument names, and where that is."""

OF_NUMBERS = ("data/reference", "data/virtual")
SHIPPED = (*OF_NUMBERS, "paper")
"""Folders that stages read, and that belong to the package."""

ARTICLE = "article"
"""The stage that sets the paper over all studies, by a command and no notebook."""

IMPORTERS = ("import_module", "__import__")
"""What imports by name otherwise, which cannot be followed."""


def write_digests() -> None:
    """Write what each stage rests on to `build/code/STUDY/STAGE`, for the stages to depend on.

    These are lists as `sha256sum` makes them, so that a comparison of two says which file changed.
    A file that says what it said before is left alone.

    Raises
    ------
    FsgreenError
        If code that a stage can run imports by name, so that no list would be whole.
    """
    if paths.shipped() != paths.root():
        _tell_of_another_pipeline()
    folder = paths.root() / "build" / "code"
    for study in studies():
        for stage in stages():
            _keep(folder / study / stage, digest(stage, study))
    _keep(folder / ARTICLE, article_digest())


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
    files = {
        file
        for study in studies()
        for notebook in stages().values()
        for file in closure("\n".join(code_cells(notebook)), study)
        if file.suffix == ".py"
    }
    parts = (file.relative_to(paths.code()).with_suffix("").parts for file in sorted(files))
    return [".".join(names).removesuffix(".__init__") for names in parts]


def studies() -> list[str]:
    """Return the studies that the pipeline has stages of: of their campaigns, or a ledger alone."""
    return sorted({*params.studies(), *(one.study for one in params.campaigns().values())})


def digest(stage: str, study: str) -> str:
    """Return the list of what a stage of a study rests on: a line per file, and the notebook.

    In a project of its own, what the stage reads of the package belongs to it: `dvc.yaml` there
    cannot name it.
    """
    notebook = stages()[stage]
    first = f"{code_digest(notebook)}  code cells of {_named(notebook)}\n"
    return first + _digests(stage, closure("\n".join(code_cells(notebook)), study))


def article_digest() -> str:
    """Return the list of what the paper over all studies rests on: code for any of them."""
    rooms = {file.parent.name for file in (paths.code() / PACKAGE / "papers").glob("*/__init__.py")}
    source = f"from {PACKAGE} import {ARTICLE}"
    return _digests(ARTICLE, set().union(*(closure(source, study) for study in sorted(rooms))))


def _digests(stage: str, files: set[Path]) -> str:
    """Return a line for each file that a stage rests on."""
    if paths.shipped() != paths.root():
        files = files | texts_and_numbers(stage)
    lines = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {_named(f)}" for f in sorted(files)]
    return "\n".join(lines) + "\n"


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


def _named(file: Path) -> Path:
    """Return a file as lists name it: below the project, or where the package is."""
    return file.relative_to(paths.root() if file.is_relative_to(paths.root()) else paths.code())


def code_digest(notebook: Path) -> str:
    """Return the SHA-256 of the code cells: text, outputs and metadata do not count."""
    return hashlib.sha256(json.dumps(code_cells(notebook)).encode()).hexdigest()


def code_cells(notebook: Path) -> list[str]:
    """Return the source of each code cell of a notebook."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def closure(source: str, study: str) -> set[Path]:
    """Return the files of the package that a source text can import or read, and theirs in turn.

    Raises
    ------
    FsgreenError
        If one of them imports by name, other than through a function of `BY_NAME`.
    """
    face = paths.code() / PACKAGE / "__init__.py"
    reached: set[Path] = set()
    todo = [_uses(source, paths.code())]
    while todo:
        for file in todo.pop().files(study):
            if file not in reached:
                reached.add(file)
                # What the package's own face imports, it imports for people who ask it to.
                if file.suffix == ".py" and file != face:
                    todo.append(_uses(file.read_text(encoding="utf-8"), file))
    return reached


def _pipeline(folder: Path | None = None) -> dict[str, Any]:
    """Return the stages of the project, or those in another folder."""
    text = ((folder or paths.root()) / "dvc.yaml").read_text(encoding="utf-8")
    entries: dict[str, Any] = schema.plain(text)["stages"]
    return entries


@dataclass(frozen=True)
class _Uses:
    """What one source text names: modules, things by name, and files beside it."""

    modules: frozenset[str]
    by_name: frozenset[tuple[str, str]]
    beside: frozenset[Path]

    def files(self, study: str) -> Iterator[Path]:
        """Yield the files that these are for a study."""
        room = f"papers/{study}"
        if not (paths.code() / PACKAGE / room).is_dir():
            room = "generic"
        for module in self.modules:
            yield from _module_files(module.replace(".", "/"))
        for function, name in self.by_name:
            place = BY_NAME[function].format(room=room, name=name)
            if Path(place).suffix:
                if (file := paths.code() / place).is_file():  # a study need not have one
                    yield file
            else:
                yield from _module_files(place)
        yield from self.beside


@cache
def _uses(source: str, place: Path) -> _Uses:
    modules, by_name, texts = set[str](), set[tuple[str, str]](), set[str]()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                modules |= {f"{module}.{alias.name}" for alias in names}
            case ast.Constant(value=str(text)):
                texts.add(text)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[*_, ast.Constant(value=str(name))],
            ) if called in BY_NAME:
                by_name.add((called, name))
    if line := _imports_by_name(tree):
        raise FsgreenError(
            f"what line {line} imports cannot be known before it runs",
            where=place,
            next_step="import it by an import statement",
        )
    own = {name for name in modules if name.split(".")[0] == PACKAGE}
    return _Uses(frozenset(own), frozenset(by_name), frozenset(_beside(place, texts)))


def _imports_by_name(tree: ast.AST) -> int | None:
    """Return a line that imports by name, outside of the functions of `BY_NAME`."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) if name in BY_NAME:
                continue
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                if called in IMPORTERS:
                    return node.lineno
        if line := _imports_by_name(node):
            return line
    return None


def _module_files(module: str) -> Iterator[Path]:
    """Yield the file of a module, if it is one, and of the packages that it is in."""
    parts = module.split("/")
    for depth in range(1, len(parts) + 1):
        base = paths.code().joinpath(*parts[:depth])
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                yield file


def _beside(place: Path, texts: set[str]) -> Iterator[Path]:
    """Yield the files that are no modules, in the folder of a module, which it names."""
    for entry in place.parent.iterdir() if place.suffix == ".py" else ():
        if entry.suffix == ".py" or (entry / "__init__.py").exists() or entry == paths.shipped():
            continue
        if entry.name in texts:
            inside = entry.rglob("*") if entry.is_dir() else [entry]
            yield from (file for file in inside if file.is_file())
