"""Workloads in the words that both the engine and Filebench 1.5-alpha3 understand.

Filebench knows no arithmetic, and its keywords cannot be names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TREE = "tree"
"""The fileset of the single operations."""


@dataclass(frozen=True)
class Operation:
    """One operation, or a cycle of those that need each other, and the files that it uses."""

    flowops: tuple[str, ...]
    entries: int = 1000
    size: str = "4k"
    prealloc_percent: int = 100


CREATE = Operation(
    (
        f"createfile name=make,filesetname={TREE},fd=1",
        "closefile name=leave,fd=1",
        f"deletefile name=drop,filesetname={TREE}",
    ),
    prealloc_percent=50,
)

OPERATIONS = {
    "stat": Operation((f"statfile name=look,filesetname={TREE}",)),
    "open": Operation(
        (f"openfile name=enter,filesetname={TREE},fd=1", "closefile name=leave,fd=1")
    ),
    "read": Operation(
        (f"read name=get,filesetname={TREE},iosize=4k,random",), entries=100, size="1m"
    ),
    "write": Operation(
        (f"write name=put,filesetname={TREE},iosize=4k,random",), entries=100, size="1m"
    ),
    "large": Operation(
        (f"write name=put,filesetname={TREE},iosize=1m,random",), entries=16, size="16m"
    ),
    "whole": Operation(
        (
            f"openfile name=enter,filesetname={TREE},fd=1",
            "readwholefile name=get,fd=1,iosize=16k",
            "closefile name=leave,fd=1",
        ),
        size="16k",
    ),
    "create": CREATE,
    "create-shared": CREATE,
}
"""What the loop `operations` does too, by its names there: alone or among names that it shares."""


def operation(kind: str, directory: Path, threads: int) -> str:
    """Return the definitions of a single operation, done by so many threads of one process."""
    spec = OPERATIONS[kind]
    files = tree(directory, spec.entries, spec.size, f"prealloc={spec.prealloc_percent}")
    return files + process("bench", 1, "worker", threads, spec.flowops)


def tree(directory: Path, entries: int, size: str, creation: str = "prealloc") -> str:
    """Return the definition of a fileset `tree`; `creation` is what it says of that."""
    return (
        f"define fileset name={TREE},path={directory},size={size},entries={entries},"
        f"dirwidth=20,{creation}\n"
    )


def many_files(directory: Path, entries: int, size: str) -> str:
    """Return the definitions of a large tree, made by several threads, and of one that uses it."""
    files = tree(directory, entries, size, "prealloc,paralloc")
    return files + process("bench", 1, "worker", 1, OPERATIONS["stat"].flowops)


def process(name: str, instances: int, thread: str, threads: int, flowops: Iterable[str]) -> str:
    """Return the definition of a process with one kind of thread."""
    lines = "".join(f"    flowop {flowop}\n" for flowop in flowops)
    return (
        f"define process name={name},instances={instances}\n{{\n"
        f"  thread name={thread},instances={threads}\n  {{\n{lines}  }}\n}}\n"
    )
