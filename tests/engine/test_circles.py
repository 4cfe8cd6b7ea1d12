"""The architecture of the engine: no module of a Rust crate uses one that uses it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fsgreen import paths

CRATES = ("wml", "ycsb", "readahead", "simdisk", "greenfs", "nfs")

Path_ = tuple[str, ...]  # a path in Rust: ("ops", "worker", "Worker"), without the crate

# What says nothing about a module: comments, strings, and characters.
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|r#".*?"#|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', re.S)
VISIBILITY = re.compile(r"\bpub\s*\([^)]*\)")
USE = re.compile(r"\b(pub\s+)?use\s+([^;]+);")
MENTION = re.compile(r"(?<![\w:.])(\w+(?:::\w+)+)")


@dataclass
class Module:
    """What a module of a crate names in its `use` declarations and in its code."""

    home: Path_
    code: str
    names: dict[str, Path_] = field(default_factory=dict)  # as they are spelled here
    exports: dict[str, Path_] = field(default_factory=dict)  # those that others see, too
    used: set[Path_] = field(default_factory=set)


def without_tests(source: str) -> str:
    """The code of a file, without comments, strings and the tests at its end."""
    code = VISIBILITY.sub("pub", SILENT.sub(" ", source))
    return re.split(r"#\[cfg\(test\)\]\s*(?:pub\s+)?mod\s+\w+\s*\{", code)[0]


def leaves(tree: str) -> Iterator[tuple[Path_, str]]:
    """Yield the paths of a `use` declaration with the name that each has from then on."""
    tree = tree.strip()
    if (brace := tree.find("{")) < 0:
        path, _, alias = tree.partition(" as ")
        parts = tuple(path.strip().split("::"))
        parts = parts[:-1] if parts[-1] == "self" and len(parts) > 1 else parts
        yield parts, alias.strip() or parts[-1]
        return
    head = tuple(part for part in tree[:brace].strip().split("::") if part)
    depth, item = 0, ""
    for letter in tree[brace + 1 : tree.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and not depth:
            if item.strip():
                for path, name in leaves(item):
                    whole = head if path == ("self",) else head + path
                    yield whole, head[-1] if path == ("self",) else name
            item = ""
        else:
            item += letter


class Crate:
    """The modules of a crate, and which uses which."""

    def __init__(self, sources: dict[Path_, str]):
        self.modules = {home: Module(home, without_tests(text)) for home, text in sources.items()}
        for module in self.modules.values():
            self._read(module)

    @classmethod
    def of(cls, folder: Path) -> "Crate":
        """Read the modules below a folder `src`."""
        sources = {}
        for file in sorted(folder.rglob("*.rs")):
            home = file.relative_to(folder).with_suffix("").parts
            if home != ("main",) and home[-1] != "tests":
                sources[home[:-1] if home[-1] in ("mod", "lib") else home] = file.read_text()
        return cls(sources)

    def uses(self) -> dict[Path_, set[Path_]]:
        """The modules that each module uses: those that define what it names."""
        return {
            home: {self._definer(path) for path in module.used} - {home}
            for home, module in self.modules.items()
        }

    def _read(self, module: Module) -> None:
        for visible, tree in USE.findall(module.code):
            for parts, name in leaves(tree):
                if (path := self._absolute(module, parts)) is None:
                    continue
                module.names[name] = path
                if visible:
                    module.exports[name] = path
                if path not in self.modules:
                    module.used.add(path)
        for mention in MENTION.findall(USE.sub(" ", module.code)):
            parts = tuple(mention.split("::"))
            known = module.names.get(parts[0])
            path = known + parts[1:] if known else self._absolute(module, parts)
            if path is not None:
                module.used.add(path)

    def _absolute(self, module: Module, parts: Path_) -> Path_ | None:
        """A path from the root of the crate; None if it leads out of the crate."""
        home, rest = module.home, parts
        if rest[0] == "crate":
            return rest[1:]
        if rest[0] in ("self", "super"):
            while rest and rest[0] in ("self", "super"):
                home = home[:-1] if rest[0] == "super" else home
                rest = rest[1:]
            return home + rest
        return home + rest if home + rest[:1] in self.modules else None

    def _definer(self, path: Path_) -> Path_:
        """The module that defines what a path names, through whatever exports it again."""
        length = max(n for n in range(len(path) + 1) if path[:n] in self.modules)
        module, rest = self.modules[path[:length]], path[length:]
        if rest and rest[0] in module.exports:
            return self._definer(module.exports[rest[0]] + rest[1:])
        return module.home


def circles(uses: dict[Path_, set[Path_]]) -> list[list[Path_]]:
    """The shortest circle through each module that is in one, each circle once."""
    found: dict[frozenset[Path_], list[Path_]] = {}
    for start in sorted(uses):
        ways, seen = [[start]], {start}
        for way in ways:
            for following in sorted(uses[way[-1]]):
                if following == start:
                    found.setdefault(frozenset(way), [*way, start])
                    ways.clear()
                    break
                if following not in seen:
                    seen.add(following)
                    ways.append([*way, following])
    return list(found.values())


def spelled(circle: list[Path_]) -> str:
    return " -> ".join("::".join(home) or "the root" for home in circle)


@pytest.mark.parametrize("crate", CRATES)
def test_no_module_uses_one_that_uses_it(crate: str) -> None:
    uses = Crate.of(paths.root() / "engine" / crate / "src").uses()
    assert sum(map(len, uses.values())) > len(uses), "the declarations were not understood"
    found = circles(uses)
    assert not found, "modules in circles:\n" + "\n".join(map(spelled, found))


@pytest.mark.parametrize(
    "user",
    [
        "use crate::low::Low;",
        "use super::low::{self, Low as L};",
        "use crate::{high, low::Low};",
        "use crate::Low;",  # exported again by the root
        "fn f() { crate::low::f() }",
        "use crate::low; fn f() { low::f() }",
    ],
)
def test_every_form_of_use_is_seen(user: str) -> None:
    """A circle in a form that is not understood would pass for none."""
    root = "pub mod high; pub mod low; pub use low::Low;"
    crate = Crate({(): root, ("high",): user, ("low",): "use super::high::High;"})
    assert [spelled(circle) for circle in circles(crate.uses())] == ["high -> low -> high"]


def test_what_is_no_use_makes_no_circle() -> None:
    """Comments, tests and visibility may name who uses a module."""
    low = """
        //! See [`crate::high::High`].
        pub(in crate::high) struct Low<'a>(&'a str); // 'crate::high'
        const TEXT: &str = "use crate::high::High;";
        #[cfg(test)]
        mod tests { use crate::high::High; }
    """
    crate = Crate({(): "mod high; mod low;", ("high",): "use crate::low::Low;", ("low",): low})
    assert not circles(crate.uses())
