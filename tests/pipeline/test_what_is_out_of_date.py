"""What runs again: less than DVC says would leave old results, more would cost minutes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from dvc.repo import Repo

from fsgreen import paths
from fsgreen.pipeline.ledger import Ledger

STAGES = """\
stages:
  one:
    cmd: cp source made
    deps: [source, folder]
    params: [amount]
    outs:
    - made: {cache: false}
  two:
    cmd: mkdir out && cp made folder/a out
    deps: [made, folder]
    outs:
    - out: {cache: false}
  kept:
    cmd: cp source kept
    deps: [source]
    outs: [kept]
"""


def rewritten(name: str, text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_text(text)

    return change


CHANGES: dict[str, Callable[[Path], None]] = {
    "nothing": lambda folder: None,
    "a file that two read": rewritten("source", "other"),
    "a folder that two read": rewritten("folder/b", "more"),
    "a parameter": rewritten("params.yaml", "amount: 2"),
    "a command": rewritten("dvc.yaml", STAGES.replace("cp made folder/a", "cp folder/a made")),
    "what a stage made": rewritten("out/a", "by hand"),
    "what is gone": lambda folder: folder.joinpath("made").unlink(),
    "what DVC keeps": lambda folder: folder.joinpath("kept").unlink(),
}


# Of a library that DVC uses, and each of its runs.
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")


@pytest.fixture
def reproduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three stages that have run."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)  # DVC runs what is there
    (tmp_path / "folder").mkdir()
    texts = {"dvc.yaml": STAGES, "params.yaml": "amount: 1", "source": "s", "folder/a": "a"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with Repo.init(no_scm=True) as repo:
        repo.reproduce()
    return tmp_path


def test_stages_are_out_of_date_as_dvc_has_it(reproduced: Path) -> None:
    """After each change in its turn, on top of those before."""
    seen = set()
    for what, change in CHANGES.items():
        change(reproduced)
        with Repo(str(reproduced)) as repo:
            expected = set(repo.status())
        with Ledger.opened(wait=True) as ledger:
            assert set(ledger.out_of_date()) == expected, what
        seen.add(frozenset(expected))
    assert frozenset() in seen and frozenset({"one", "two", "kept"}) in seen
