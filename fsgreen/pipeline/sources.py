"""Source texts of the package: what each can import or read, and so what a text rests on.

Nothing is run or imported to find out: import statements are followed through the package, those
inside functions too.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fsgreen import paths
from fsgreen.errors import FsgreenError

PACKAGE = "fsgreen"

BY_NAME = {
    "step": "fsgreen/{room}/{name}",
    "room": "fsgreen/{room}/{name}",
    "declared": "fsgreen/{room}/{name}.yaml",
}
"""Functions that import or read what their last argument names, and where that is."""

IMPORTERS = ("import_module", "__import__")
"""What imports by name otherwise, which cannot be followed."""


class Sources:
    """The files of the package as they are now: each is looked for, and read, once."""

    def __init__(self) -> None:
        self._modules = cache(_module_files)
        self._uses = cache(_uses_of)
        self._always = cache(self._for_any_study)
        self.line = cache(_line)
        """The line of a file in a list as `sha256sum` makes them."""

    def behind(self, source: str, study: str) -> set[Path]:
        """Return the files that a source text can import or read, and theirs in turn.

        Raises FsgreenError if one of them imports by name, other than through a function of
        `BY_NAME`.
        """
        reached: set[Path] = set()
        room = f"papers/{study}"
        if not (paths.code() / PACKAGE / room).is_dir():
            room = "generic"
        uses = _uses(source, paths.code())
        todo = [*self._named(uses), *self._by_name(uses, room)]
        while todo:
            if (file := todo.pop()) not in reached:
                reached.add(file)
                # What the package's own face imports, it imports for people who ask it to.
                if file.suffix == ".py" and file != paths.code() / PACKAGE / "__init__.py":
                    todo += self._always(file)
                    todo += self._by_name(self._uses(file), room)
        return reached

    def _for_any_study(self, file: Path) -> tuple[Path, ...]:
        """Return the files that a module imports, and those beside it that it names."""
        return tuple(self._named(self._uses(file)))

    def _named(self, uses: _Uses) -> Iterator[Path]:
        """Yield the files that a text names for whatever study."""
        for module in uses.modules:
            yield from self._modules(module.replace(".", "/"))
        yield from uses.beside

    def _by_name(self, uses: _Uses, room: str) -> Iterator[Path]:
        """Yield the files of a study's room that a text asks for by name."""
        for function, name in uses.by_name:
            place = BY_NAME[function].format(room=room, name=name)
            if Path(place).suffix:
                if (file := paths.code() / place).is_file():  # a study need not have one
                    yield file
            else:
                yield from self._modules(place)


@dataclass(frozen=True)
class _Uses:
    """What one source text names: modules, things by name, and files beside it."""

    modules: frozenset[str]
    by_name: frozenset[tuple[str, str]]
    beside: frozenset[Path]


def _uses_of(file: Path) -> _Uses:
    return _uses(file.read_text(encoding="utf-8"), file)


def _uses(source: str, place: Path) -> _Uses:
    tree = ast.parse(source)
    modules = set[str]()
    for statement in _statements(tree):
        match statement:
            case ast.Import(names=names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                modules |= {f"{module}.{alias.name}" for alias in names}
    if any(name in source for name in IMPORTERS) and (line := _imports_by_name(tree)):
        raise FsgreenError(
            f"the import in line {line} cannot be known before it runs",
            where=place,
            next_step="import it by an import statement",
        )
    own = {name for name in modules if name.split(".")[0] == PACKAGE}
    by_name, texts = set[tuple[str, str]](), set[str]()
    entries = _beside(place)
    # Of most modules nothing but statements need be looked at, which are few.
    calls = any(f"{name}(" in source for name in BY_NAME)
    for node in ast.walk(tree) if entries or calls else ():
        match node:
            case ast.Constant(value=str(text)):
                texts.add(text)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[*_, ast.Constant(value=str(name))],
            ) if called in BY_NAME:
                by_name.add((called, name))
    beside = {file for name in texts & entries.keys() for file in _all_of(entries[name])}
    return _Uses(frozenset(own), frozenset(by_name), frozenset(beside))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements of a module, those in functions too."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, part, ()):
            yield statement
            yield from _statements(statement)


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


def _module_files(module: str) -> tuple[Path, ...]:
    """Return the file of a module, if it is one, and of the packages that it is in."""
    parts = module.split("/")
    bases = [paths.code().joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    files = (file for base in bases for file in (base.with_suffix(".py"), base / "__init__.py"))
    return tuple(file for file in files if file.is_file())


def _beside(place: Path) -> dict[str, Path]:
    """Return what is no code in the folder of a module, by name: files, and folders of files."""
    return {
        entry.name: entry
        for entry in (place.parent.iterdir() if place.suffix == ".py" else ())
        if entry.suffix != ".py" and not (entry / "__init__.py").exists()
        if entry.name != "__pycache__" and entry != paths.shipped()
    }


def _all_of(entry: Path) -> Iterator[Path]:
    """Yield a file, or all files in a folder."""
    inside = entry.rglob("*") if entry.is_dir() else [entry]
    yield from (file for file in inside if file.is_file())


def _line(file: Path) -> str:
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {named(file)}"


def named(file: Path) -> Path:
    """Return a file as lists name it: below the project, or where the package is."""
    return file.relative_to(paths.root() if file.is_relative_to(paths.root()) else paths.code())
