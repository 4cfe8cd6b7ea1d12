"""What README and docs/ say to type can be typed: commands, options, names and files are there."""

import ast
import contextlib
import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile

import pytest
import yaml

from fsgreen import cli, evidence, paths, schema
from fsgreen.cli.command import Parser
from fsgreen.design import load_study
from fsgreen.errors import FsgreenError
from tests import documented
from tests.documented import Command

OF_SCRIPT = {
    "environment": (),
    "engine": ("--from-source",),
    "lock": (),
    "help": (),
    "test": None,
    "lab": None,
}
"""What the script `run` does itself, with what it takes: anything where that is None."""

OWN = ("mine", "mail")
"""How names begin that a reader gives to what is the reader's own."""

REPOSITORY = re.compile(
    r"(?:docs|notebooks|studies|fsgreen|bench|tests|engine|paper|data/reference)/[\w./-]+"
)
LANGUAGES = ("", "sh", "python", "yaml", "toml")
MARKS = {documented.BY_NIGHT, *documented.NOT_BY_NIGHT}

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="imports every script of bench/, for 20 seconds: FSGREEN_NIGHTLY=1 ./run test "
    "tests/test_documented_commands.py",
)


@cache
def commands() -> Sequence[Command]:
    """All that are shown."""
    pages = documented.pages().values()
    return [command for page in pages for command in documented.commands(page)]


def of(*programs: str) -> list[Command]:
    """The commands of some programs."""
    return [command for command in commands() if command.program in programs]


def is_open(name: str) -> bool:
    """Whether a name stands for one that the reader chooses, as STUDY does."""
    return name == "..." or name.isupper() or name.startswith(OWN)


@cache
def parser() -> Parser:
    return cli.parser()


def refused_by_fsgreen(command: Command) -> str:
    """Why the command line refuses a command, or lacks what it names; "" where nothing is wrong."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            options = vars(parser().parse(command.words))
        except SystemExit as left:
            is_short = "the following arguments are required" in said.getvalue()
            is_fine = left.code == 0 or (is_short and command.in_sentence)
            return "" if is_fine else said.getvalue()
    return unknown_name(options)


def unknown_name(options: dict[str, object]) -> str:
    """What is said of a study, profile, claim or notebook that is not there."""
    named = {name: str(options.get(name) or "...") for name in ("study", "claim", "notebook")}
    try:
        if not is_open(named["study"]):
            profiles = load_study(named["study"]).profiles
            profile = str(options.get("profile") or "...")
            if not is_open(profile) and profile not in profiles:
                return f"{named['study']} has no profile {profile}"
        if not is_open(named["claim"]):
            evidence.find(named["claim"])
    except FsgreenError as error:
        return str(error)
    if not is_open(named["notebook"]) and not paths.notebook(named["notebook"]).is_file():
        return f"there is no notebook {named['notebook']}"
    return ""


def refused_by_run(command: Command) -> str:
    """The same of a command of the script `run`."""
    name, *words = command.words
    if name not in OF_SCRIPT:
        return refused_by_fsgreen(command)
    takes = OF_SCRIPT[name]
    return "" if takes is None or {*words} <= {*takes} else f"./run {name} takes no {words}"


def test_every_command_of_fsgreen_parses_and_what_it_names_is_there() -> None:
    """Who copies a command that was renamed gives up at the first step."""
    judges = {"fsgreen": refused_by_fsgreen, "./run": refused_by_run}
    shown = of(*judges)
    assert len(shown) > 150, "the commands are not found any more"
    wrong = [
        f"{command.where}: {command.program} {' '.join(command.words)}: {said}"
        for command in shown
        if (said := judges[command.program](command))
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pln fast10", "did you mean plan"),
        ("plan fast10 --profle quick", "did you mean --profile"),
        ("plan fast10 --profile quik", "fast10 has no profile quik"),
        ("plan fast11", "did you mean fast10"),
        ("claim fast10-622", "did you mean fast10-62"),
        ("notebook 61_analyse", "no notebook 61_analyse"),
        ("engine --fast", "takes no ['--fast']"),
    ],
)
def test_a_wrong_command_is_seen(words: str, said: str) -> None:
    assert said in refused_by_run(Command("", "./run", words.split(), False))


def test_the_script_does_what_is_taken_for_its_own() -> None:
    asked = (paths.code() / "run").read_text().rpartition("# --- what is asked")[2]
    for name in OF_SCRIPT:
        assert re.search(rf'^(?:"" \| )?{name}\)', asked, re.MULTILINE), name


def test_every_command_of_dvc_parses() -> None:
    from dvc.cli.parser import get_main_parser
    from dvc.exceptions import DvcException

    assert of("dvc")
    for command in of("dvc"):
        try:
            get_main_parser().parse_args(command.words)
        except DvcException:
            pytest.fail(f"{command.where}: dvc {' '.join(command.words)}")


@cache
def help_of(*command: str) -> str:
    """What a program says of its options."""
    shown = subprocess.run(
        [*command, "--help"], cwd=documented.ROOT, capture_output=True, text=True
    )
    assert shown.returncode == 0, f"{' '.join(command)} --help: {shown.stderr}"
    return shown.stdout


def options(words: Iterable[str]) -> set[str]:
    """The long options of a command."""
    return {word.partition("=")[0] for word in words if word.startswith("--")} - {"--help"}


def lacking(words: Iterable[str], said: str) -> list[str]:
    """Those that its help does not have."""
    return [name for name in sorted(options(words)) if not re.search(rf"{name}(?![\w-])", said)]


def modules() -> list[Command]:
    """The commands that run a module of Python."""
    return [command for command in of("python") if command.words[0] == "-m"]


def before_options(command: Command) -> list[str]:
    """The module and what it is told to do."""
    flag, *rest = command.words
    return [flag, *takewhile(lambda word: not word.startswith("-"), rest)]


def test_every_module_that_is_run_is_there() -> None:
    assert modules()
    for command in modules():
        assert importlib.util.find_spec(command.words[1]), command.where


@by_night
def test_every_option_of_a_module_is_there() -> None:
    wrong = {
        command.where: lost
        for command in modules()
        if options(command.words)  # without any, a module may open a file that it is given first
        and (lost := lacking(command.words, help_of(sys.executable, *before_options(command))))
    }
    assert not wrong


@pytest.mark.parametrize("program", documented.ENGINE)
def test_every_option_of_a_program_of_the_engine_is_there(program: str) -> None:
    path = paths.program(program)
    if path is None:
        pytest.skip(f"{program} is not installed: ./run engine")
    wrong = {
        command.where: lost
        for command in of(program)
        if (lost := lacking(command.words[1:], help_of(path, command.words[0])))
    }
    assert not wrong


def test_every_file_of_the_repository_that_is_named_is_there() -> None:
    words = [(command.where, word) for command in commands() for word in command.words]
    words += [
        (where, span.partition(" ")[0])
        for page in documented.pages().values()
        for where, span in documented.spans(page)
    ]
    missing = [
        f"{where}: {word}"
        for where, word in words
        if REPOSITORY.fullmatch(word)
        and not any(is_open(part.partition(".")[0]) for part in word.split("/"))
        and not (documented.ROOT / word).exists()
    ]
    assert not missing


def test_every_block_can_be_read_in_its_language() -> None:
    wrong = []
    for page in documented.pages().values():
        for block in documented.blocks(page):
            assert block.language in LANGUAGES and {*block.marks} <= MARKS
            try:
                read(block.language, textwrap.dedent(block.code))
            except (ImportError, SyntaxError, ValueError, yaml.YAMLError) as error:
                wrong.append(f"{block.where}: {error}")
    assert not wrong


def test_what_can_be_typed_is_executed_by_night_or_says_why_not() -> None:
    """A block that nothing executes is wrong one day, and nobody is told."""
    wrong = [
        block.where
        for path, page in documented.pages().items()
        for block in documented.blocks(page)
        if path not in documented.READ_BY_TESTS
        if is_typed(block) != (len(block.marks) == 1)
    ]
    assert not wrong, f"behind the language: one of {', '.join(sorted(MARKS))}"


def is_typed(block: documented.Block) -> bool:
    """Whether a block is there to be executed, and not what a program has printed."""
    if block.language in ("sh", "python"):
        return True
    lines = block.code.splitlines()
    return not block.language and not lines[0].startswith("$") and any(map(has_ours, lines))


def has_ours(line: str) -> bool:
    """Whether a line begins with a command of ours."""
    return line.split(" ")[0].removeprefix(".venv/bin/") in documented.PROGRAMS


def read(language: str, code: str) -> None:
    """Read a block of code, and import what one in Python takes of fsgreen."""
    if language == "yaml":
        schema.plain(code)
    elif language == "toml":
        tomllib.loads(code)
    elif language == "sh":
        shell = subprocess.run(["bash", "-n"], input=code, capture_output=True, text=True)
        if shell.returncode:
            raise SyntaxError(shell.stderr)
    elif language == "python":
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "fsgreen":
                for alias in node.names:
                    imported(str(node.module), alias.name)


def imported(module: str, name: str) -> object:
    """What `from module import name` gives."""
    found = importlib.import_module(module)
    return getattr(found, name, None) or importlib.import_module(f"{module}.{name}")
