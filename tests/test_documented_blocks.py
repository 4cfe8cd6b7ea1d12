"""By night the blocks of README and docs/ that are marked for it are executed, page by page."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import psutil
import pytest
from mounts_of_greenfs import needs_a_mount

from fsgreen import paths
from tests import clones, documented
from tests.patience import BOUNDS

TUTORIALS = {"docs/first-answer.md", "docs/own-study.md"}
MARKED = sorted(
    str(file.relative_to(documented.ROOT))
    for file in (documented.ROOT / "docs").rglob("*.md")
    if f" {documented.BY_NIGHT}\n" in file.read_text()
)
"""The pages that have such blocks."""

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="measures and analyses for minutes: FSGREEN_NIGHTLY=1 ./run test "
    "tests/test_documented_blocks.py",
)
needs_engine = pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="needs the engine: ./run engine"
)

SCRIPT = f"""#!/bin/sh
[ "$1" != engine ] || exit 0
fsgreen "$@" || exit
[ "$1" != new ] || echo "{BOUNDS}" >>"studies/$2.yaml"
"""
"""`run` without what makes an environment, as that of these tests is there."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home of its own, in which nothing stays mounted where a page breaks off."""
    folder = tmp_path / "home"
    folder.mkdir()
    yield folder
    for place in filter(os.path.ismount, folder.iterdir()):
        subprocess.run(["greenfs", "umount", str(place)], env=clones.environment(tmp_path))


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A clone of the work tree, with the programs of the environment where a page names them.

    What a page that breaks off left running there ends.
    """
    clones.copy(tmp_path)
    clones.commit(tmp_path)
    (tmp_path / "run").write_text(SCRIPT)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    yield tmp_path
    for process in psutil.process_iter(["cwd"]):
        if process.info["cwd"] == str(tmp_path):
            process.terminate()


def script(block: documented.Block) -> str:
    """A block as a text for a shell."""
    if block.language == "python":
        return f"python - <<'END OF BLOCK'\n{block.code}END OF BLOCK\n"
    return block.code


@by_night
@needs_engine
@pytest.mark.slow
@pytest.mark.parametrize("page", MARKED)
def test_what_a_page_shows_can_be_done(page: str, checkout: Path, home: Path) -> None:
    """One after the other, as a reader does who follows the page from the top."""
    if page == "docs/greenfs.md":
        needs_a_mount()
    for block in documented.blocks(documented.pages()[PurePosixPath(page)]):
        if documented.BY_NIGHT in block.marks:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script(block)],
                cwd=checkout,
                env=clones.environment(checkout) | {"HOME": str(home)},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{block.where}:\n{done.stdout}\n{done.stderr}"


def test_the_tutorials_are_executed() -> None:
    """A mark that is misspelt would leave a page out in silence."""
    assert {*MARKED} >= TUTORIALS
    for page in TUTORIALS:
        blocks = list(documented.blocks(documented.pages()[PurePosixPath(page)]))
        assert sum(documented.BY_NIGHT in block.marks for block in blocks) >= 4
