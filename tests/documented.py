"""What README and the pages of docs/ show to type: code blocks, and commands with file and line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from fsgreen import paths
from fsgreen.site import contents, text

ROOT = paths.code()
SHELL = ("", "sh")
"""Languages of blocks that may hold commands; without one a block may show anything."""

BY_NIGHT = "by-night"
"""What stands behind the language of a block that is executed by night."""

NOT_BY_NIGHT = {
    "as-root": "changes the machine, or makes devices",
    "with-hardware": "asks a meter, a disk or a program that is not here",
    "long": "takes longer than its page may; .ci/nightly makes all campaigns anew",
    "yours": "needs files, names or servers of the reader",
    "part": "a part of a program, without what it is given",
    "tested": "a test or a step of the night of its own executes it",
}
"""What stands there in place of that, and why it is not executed with its page."""

READ_BY_TESTS = {PurePosixPath("CONTRIBUTING.md"), PurePosixPath("ARTIFACT.md")}
"""Pages whose blocks have no marks: tests execute the examples of one, the other is generated."""

ENGINE = ("fsgreen-wml", "fsgreen-simdisk", "fsgreen-nfs", "fsgreen-ycsb", "greenfs")
PROGRAMS = {"./run", "fsgreen", "python", "dvc", *ENGINE}
PUNCTUATION = set("();<>|&")


class Block(NamedTuple):
    """A block of code: `marks` are what stands behind its language."""

    where: str
    language: str
    marks: Sequence[str]
    code: str


class Command(NamedTuple):
    """A program of ours with its arguments; within a sentence some of these may be left out."""

    where: str
    program: str
    words: Sequence[str]
    in_sentence: bool


@cache
def pages() -> dict[PurePosixPath, text.Text]:
    """Every page of the site by its place in the repository."""
    return {path: text.read(ROOT, path) for path in contents.every(contents.read(ROOT))}


def blocks(page: text.Text) -> Iterator[Block]:
    """The blocks of code of a page; one that is indented has no language."""
    for token in page.tokens:
        if token.type in ("fence", "code_block"):
            language, *marks = token.info.split() or [""]
            line = token.map[0] + (2 if token.type == "fence" else 1)
            yield Block(f"{page.path}:{line}", language, marks, token.content)


def tested(name: str) -> list[str]:
    """The code of the blocks of a page that are marked `tested`: a test of their own runs them."""
    page = pages()[PurePosixPath(name)]
    return [block.code for block in blocks(page) if "tested" in block.marks]


def spans(page: text.Text) -> Iterator[tuple[str, str]]:
    """File and line of each piece of code in a sentence, and the piece."""
    for block in page.tokens:
        for token in block.children or ():
            if token.type == "code_inline":
                yield f"{page.path}:{block.map[0] + 1}", token.content


def commands(page: text.Text) -> Iterator[Command]:
    """The commands of ours that a page shows."""
    for block in blocks(page):
        if block.language in SHELL:
            file, _, first = block.where.partition(":")
            for nth, line in enumerate(block.code.replace("\\\n", "  ").splitlines()):
                for program, *words in parts(line):
                    yield Command(f"{file}:{int(first) + nth}", program, words, False)
    for where, span in spans(page):
        for program, *words in parts(span):
            if words:
                yield Command(where, program, words, True)


def parts(line: str) -> Iterator[list[str]]:
    """The commands of ours in a line of a shell, as lists of words without `sudo` and the like."""
    if not any(program in line for program in PROGRAMS):
        return
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # a sentence, or what a program has printed
        words = []
    begun: list[str] = []
    for word in [*words, ";"]:
        if set(word) <= PUNCTUATION:
            if command := ours(begun):
                yield command
            begun = []
        else:
            begun.append(word)


def ours(words: list[str]) -> list[str]:
    """A command without what stands before it; nothing if it is none of ours."""
    while words and (words[0] in ("sudo", "$") or re.match(r"[A-Z_]+=", words[0])):
        words = words[1:]
    if not words:
        return []
    program = words[0].removeprefix(".venv/bin/")
    return [program, *words[1:]] if program in PROGRAMS else []
